"""The schedulers of jobs: Kubernetes, Slurm and AWS Batch."""
