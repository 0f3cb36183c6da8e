"""List prices from the AWS Price List."""
