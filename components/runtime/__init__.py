"""Kubernetes resources in a cluster."""
