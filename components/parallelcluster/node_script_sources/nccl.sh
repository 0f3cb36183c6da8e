# NCCL, its tests, and the plugin for EFA, built in /opt.
# Arguments: the tag of NCCL, the tag of the plugin (optional).

nccl=${1:-$NCCL_TAG}
plugin=${2:-$PLUGIN_TAG}

# fetch_source REPOSITORY TAG COMMIT DIRECTORY: the commit is checked if it is not empty.
fetch_source() {
  rm -rf "$4"
  retry git clone --quiet --depth 1 --branch "$2" "$1" "$4"
  local commit
  commit=$(git -C "$4" rev-parse HEAD)
  if [[ -n $3 && $commit != "$3" ]]; then
    fail "the tag $2 of $1 has moved from $3 to $commit"
  fi
}

# A build that was interrupted has no such file, and starts anew.
is_built() {
  [[ -f $1/.trainyard-built && $(<"$1/.trainyard-built") == "$2" ]]
}

commit_of() {
  if [[ $1 == "$2" ]]; then
    printf '%s' "$3"
  fi
}

if ! is_built /opt/nccl "$nccl"; then
  fetch_source https://github.com/NVIDIA/nccl.git "$nccl" \
    "$(commit_of "$nccl" "$NCCL_TAG" "$NCCL_COMMIT")" /opt/nccl
  # All architectures would take ten minutes.
  make -C /opt/nccl -j "$(nproc)" src.build NVCC_GENCODE="-gencode=arch=compute_70,code=sm_70 -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90"
  write_file /opt/nccl/.trainyard-built <<<"$nccl"
fi

if ! is_built /opt/nccl-tests "$NCCL_TESTS_TAG $nccl"; then
  fetch_source https://github.com/NVIDIA/nccl-tests.git "$NCCL_TESTS_TAG" "$NCCL_TESTS_COMMIT" \
    /opt/nccl-tests
  LD_LIBRARY_PATH=/opt/amazon/efa/lib:${LD_LIBRARY_PATH:-} make -C /opt/nccl-tests -j "$(nproc)" \
    MPI=1 MPI_HOME=/opt/amazon/openmpi NCCL_HOME=/opt/nccl/build CUDA_HOME=/usr/local/cuda
  write_file /opt/nccl-tests/.trainyard-built <<<"$NCCL_TESTS_TAG $nccl"
fi

if ! is_built /opt/aws-ofi-nccl "$plugin"; then
  fetch_source https://github.com/aws/aws-ofi-nccl.git "$plugin" \
    "$(commit_of "$plugin" "$PLUGIN_TAG" "$PLUGIN_COMMIT")" /opt/aws-ofi-nccl
  cd /opt/aws-ofi-nccl
  ./autogen.sh
  ./configure --enable-platform-aws --with-libfabric=/opt/amazon/efa \
    --with-mpi=/opt/amazon/openmpi --with-cuda=/usr/local/cuda --prefix=/opt/aws-ofi-nccl
  make -j "$(nproc)"
  make install
  write_file /opt/aws-ofi-nccl/.trainyard-built <<<"$plugin"
fi
log "NCCL $nccl and the plugin $plugin are in /opt"
