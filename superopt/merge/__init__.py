"""Joining finished results of parts of an axis: derived from a spec, proved, written as a spec."""
