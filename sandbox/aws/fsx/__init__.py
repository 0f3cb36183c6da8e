"""FSx for Lustre, where moto keeps what it is given and answers little else."""
