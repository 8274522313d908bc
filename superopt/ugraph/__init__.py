"""The µGraph: one kind of node, and the levels (kernel, block, thread) at which nodes run."""
