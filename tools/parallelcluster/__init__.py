"""Drives the real ParallelCluster, which has an environment of its own."""
