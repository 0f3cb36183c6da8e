"""S3 of the emulated account: what moto lacks."""
