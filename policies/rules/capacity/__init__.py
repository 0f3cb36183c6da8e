"""Rules for purchase options: reservations, Capacity Blocks and their placement groups."""
