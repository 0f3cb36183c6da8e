"""EC2: placement groups, capacity reservations, Capacity Blocks, and validated launches."""
