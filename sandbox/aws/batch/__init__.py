"""AWS Batch in the sandbox; moto's Batch validates little and launches nothing."""
