"""Laws, the e-graph that applies them, the forms found, and the fusion of their folds."""
