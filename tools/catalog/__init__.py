"""Tools for the catalog of instance types: generate its data, compare it with an account."""
