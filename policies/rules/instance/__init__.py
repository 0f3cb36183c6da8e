"""Rules for groups of nodes: sizes, subnets, VPCs, launch templates."""
