"""IAM roles and the profiles that carry them."""
