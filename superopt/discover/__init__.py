"""Finds laws instead of waiting for somebody to think of them, and compares them with the shipped."""
