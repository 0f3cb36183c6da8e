"""Emulation of pulumi-kubernetes 4.34.2 with the real API servers of the sandbox's clusters."""
