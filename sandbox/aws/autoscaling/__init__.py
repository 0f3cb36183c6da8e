"""Auto Scaling: groups that launch as EC2 launches, scaling activities, scheduled actions."""
