"""AWS Batch as the sandbox answers it; moto's own checks little and launches nothing."""
