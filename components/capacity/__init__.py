"""Placement of nodes in reservations, and the schedule of Capacity Blocks."""
