"""VPCs, subnets, zones and security groups."""
