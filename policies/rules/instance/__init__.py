"""Rules on nodes and where they launch: sizes, subnets, networks, launch templates."""
