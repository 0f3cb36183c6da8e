"""A sandbox account and cluster on this machine: no AWS account, no credentials, no charges."""
