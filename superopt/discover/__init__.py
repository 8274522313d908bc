"""Finds laws by enumeration, and compares them with those that are shipped."""
