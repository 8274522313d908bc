"""Printed kernels executed and compiled: inputs, processes, tolerance."""
