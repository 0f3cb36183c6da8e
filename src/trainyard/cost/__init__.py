"""Costs of a stack, at list prices and at those of today."""
