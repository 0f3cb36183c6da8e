"""Rules on how capacity is bought: reservations, Capacity Blocks, placement groups."""
