"""Placement groups, launch templates and images of nodes."""
