"""Readings of the text that ships: in fields, in float64 with true comparisons, and by symbols."""
