"""Kernels in the words of FlagTree's language extensions (TLE)."""
