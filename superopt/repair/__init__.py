"""Premature folds: what to keep and how to move it, so that fused walks are right."""
