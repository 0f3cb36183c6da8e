"""Jobs and nodes of a Slurm cluster."""
