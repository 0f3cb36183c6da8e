"""AWS Batch: compute environments, queues and job definitions."""
