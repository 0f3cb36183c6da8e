"""Jobs for ParallelCluster stacks: directories of scripts for Slurm, generated from the plan."""
