"""Proofs over the reals: laws and equalities by z3, with infinities and undefined values."""
