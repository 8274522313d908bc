"""What people and scripts read of a run."""
