"""ParallelCluster in the sandbox: what runs in the environment that has the real one."""
