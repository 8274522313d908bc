"""Printing: block graphs as self-contained Triton files."""
