"""Shared file systems: kept from mistakes, reached by their clients."""
