"""Typical durations of AWS operations, and their scaled-down emulation in a sandbox."""
