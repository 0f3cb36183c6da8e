"""Runs the real ParallelCluster in a separate environment."""
