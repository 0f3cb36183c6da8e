"""File systems for datasets and checkpoints, and access to them."""
