"""Commands for jobs on a stack."""
