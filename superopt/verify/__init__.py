"""Which evidence there is for each claim."""
