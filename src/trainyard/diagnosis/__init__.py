"""Explain why a stack is not as expected, from the account, the cluster and the engine."""
