"""EC2: placement groups, capacity reservations, Capacity Blocks, and launches that are checked."""
