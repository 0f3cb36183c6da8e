"""Rules on AWS Batch: what keeps a compute environment alive when it changes."""
