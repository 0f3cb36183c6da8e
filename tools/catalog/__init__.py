"""Tools for the catalog of instance types: make its data, compare it with an account."""
