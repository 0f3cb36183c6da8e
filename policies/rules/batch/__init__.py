"""Rules for AWS Batch: compute environments and job definitions."""
