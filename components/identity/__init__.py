"""IAM roles and instance profiles."""
