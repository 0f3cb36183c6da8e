"""Documents and packaging of the policy pack."""
