"""Recordings of official component providers, which the sandbox's stand-ins are compared with."""
