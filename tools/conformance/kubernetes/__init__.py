"""Recordings of the official Kubernetes provider, which the sandbox's stand-in is compared with."""
