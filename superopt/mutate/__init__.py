"""The verifier put to the test: one thing changed in what is right, and which reading finds it."""
