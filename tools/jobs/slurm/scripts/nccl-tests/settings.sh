# shellcheck shell=bash
# nccl-tests on the cluster @cluster@: @description@.
# The other scripts of this directory read this file.

shared=@shared@/$(id -un)
[[ -d $shared ]] || mkdir -p "$shared"

export NCCL_VERSION=@nccl_version@
export NCCL_TESTS_VERSION=@nccl_tests_version@
# One build for each kind of GPU, in the directory that all nodes share.
export BUILT=$shared/nccl-tests/@model@-$NCCL_VERSION-$NCCL_TESTS_VERSION
export CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}
export MPI_HOME=${MPI_HOME:-@mpi@}

# NCCL, its plugin for EFA, and Open MPI; distributions differ in where libraries lie.
LD_LIBRARY_PATH=$BUILT/nccl/lib:/opt/amazon/ofi-nccl/lib:/opt/amazon/ofi-nccl/lib64
LD_LIBRARY_PATH+=:/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu
LD_LIBRARY_PATH+=:/opt/amazon/efa/lib:/opt/amazon/efa/lib64:$MPI_HOME/lib:$MPI_HOME/lib64
LD_LIBRARY_PATH+=:$CUDA_HOME/lib64
export LD_LIBRARY_PATH
