"""Tuning and timing on a GPU: which Config runs fastest, measured."""
