"""Capacity reservations, the placement of nodes in them, and the schedule of Capacity Blocks."""
