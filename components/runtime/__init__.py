"""What runs inside a cluster once it is up."""
