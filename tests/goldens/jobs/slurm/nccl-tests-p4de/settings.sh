# shellcheck shell=bash
# nccl-tests on the cluster pc-p4de: 4 x p4de.24xlarge (compute-gpu/distributed-ml).
# The other scripts of this directory read this file.

shared=/fsx/$(id -un)
[[ -d $shared ]] || mkdir -p "$shared"

export NCCL_VERSION=v2.30.4-1
export NCCL_TESTS_VERSION=v2.18.3
# The commits of these tags: a tag can be moved.
export NCCL_COMMIT=1933fdd6360a8bfccaa0166bd71bce363d32e5b6
export NCCL_TESTS_COMMIT=f727aa2a540fef911de9d7bfd8852bc5d2c69815
# One build for each kind of GPU, in the directory that all nodes share.
export BUILT=$shared/nccl-tests/a100-$NCCL_VERSION-$NCCL_TESTS_VERSION
export CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}
export MPI_HOME=${MPI_HOME:-/opt/amazon/openmpi}

LD_LIBRARY_PATH=$BUILT/nccl/lib:$MPI_HOME/lib:$MPI_HOME/lib64
# libfabric and the NCCL plugin of the node; distributions differ in where libraries lie.
LD_LIBRARY_PATH+=:/opt/amazon/ofi-nccl/lib:/opt/amazon/ofi-nccl/lib64
LD_LIBRARY_PATH+=:/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu
LD_LIBRARY_PATH+=:/opt/amazon/efa/lib:/opt/amazon/efa/lib64
LD_LIBRARY_PATH+=:$CUDA_HOME/lib64
export LD_LIBRARY_PATH
