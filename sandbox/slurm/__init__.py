"""A real Slurm for the clusters of the sandbox: its nodes are processes of this machine."""
