"""AWS ParallelCluster: a Slurm cluster from one CloudFormation stack."""
