"""Which candidates there are, in which order they are tried, and how long each should take."""
