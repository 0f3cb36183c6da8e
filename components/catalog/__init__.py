"""Facts about AWS, Kubernetes and ParallelCluster, each with its source."""
