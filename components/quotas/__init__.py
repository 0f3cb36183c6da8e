"""Quotas of an account that a stack can exceed."""
