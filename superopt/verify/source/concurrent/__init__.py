"""Reads kernels whose warps have roles: values with vector clocks, and every order of barriers."""
