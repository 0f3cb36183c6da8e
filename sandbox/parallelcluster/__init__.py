"""ParallelCluster in the sandbox: code that runs in the environment with the real package."""
