"""Stand-in for pulumi-kubernetes 4.34.2, over the real API servers of the sandbox's clusters."""
