"""Recordings of official component providers, to compare with the sandbox's emulations."""
