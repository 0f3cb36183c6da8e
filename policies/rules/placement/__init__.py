"""Rules on cluster placement groups: which types, how many zones, beside which capacity."""
