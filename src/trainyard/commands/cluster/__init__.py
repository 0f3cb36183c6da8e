"""Commands for the cluster of a stack and for its nodes."""
