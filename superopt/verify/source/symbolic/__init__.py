"""The symbolic reading of a printed file: memory safety for all sizes."""
