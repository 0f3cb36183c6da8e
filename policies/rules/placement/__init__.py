"""Rules for cluster placement groups: instance types, zones, reservations."""
