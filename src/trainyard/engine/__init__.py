"""The Pulumi engine: finding it, running it, and reading its events."""
