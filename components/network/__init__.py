"""Networks and security groups of nodes."""
