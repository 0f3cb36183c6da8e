"""Auto Scaling: groups with validated launches, scaling activities, scheduled actions."""
