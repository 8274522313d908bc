"""Text of thread graphs: roles, pipes and instructions in the order of their schedule."""
