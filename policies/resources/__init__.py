"""Readers of the resources of a stack, one file for each noun."""
