"""Shared parts of the emulated providers: values, server, and generic protocol methods."""
