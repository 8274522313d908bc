"""One module a command of the command line: what it does and what it prints."""
