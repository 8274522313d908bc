"""Schedules of a walk's body that overlap across iterations, found by z3."""
