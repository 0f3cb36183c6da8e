"""Jobs of AWS Batch."""
