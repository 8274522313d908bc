"""Other operators that do nearly the same, each by name and with its measured error."""
