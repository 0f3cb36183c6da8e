"""Repeatable measurements; each compares values within one run."""
