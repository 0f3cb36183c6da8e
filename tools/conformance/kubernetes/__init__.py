"""Recordings of the official Kubernetes provider, to compare with the sandbox's emulation."""
