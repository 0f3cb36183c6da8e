"""Compute environments, queues and job definitions of AWS Batch in an account."""
