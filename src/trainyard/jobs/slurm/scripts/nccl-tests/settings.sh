# shellcheck shell=bash
# nccl-tests on the cluster @cluster@: @description@.
# The other scripts of this directory read this file.

shared=@shared@/$(id -un)
[[ -d $shared ]] || mkdir -p "$shared"

export NCCL_VERSION=@nccl_version@
export NCCL_TESTS_VERSION=@nccl_tests_version@
# The commits of these tags: a tag can be moved.
export NCCL_COMMIT=@nccl_commit@
export NCCL_TESTS_COMMIT=@nccl_tests_commit@
# One build for each kind of GPU, in the directory that all nodes share.
export BUILT=$shared/nccl-tests/@model@-$NCCL_VERSION-$NCCL_TESTS_VERSION
export CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}
export MPI_HOME=${MPI_HOME:-@mpi@}

LD_LIBRARY_PATH=$BUILT/nccl/lib:$MPI_HOME/lib:$MPI_HOME/lib64
@libraries@
LD_LIBRARY_PATH+=:$CUDA_HOME/lib64
export LD_LIBRARY_PATH
