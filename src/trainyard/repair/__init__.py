"""Replacement of bad nodes: which nodes are bad, and which may be replaced now."""
