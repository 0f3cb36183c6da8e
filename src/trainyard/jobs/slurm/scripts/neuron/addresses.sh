# shellcheck shell=bash
# Nodes of the job by address. Names of nodes resolve to <node>.<cluster>.pcluster, and where that
# name cannot be resolved collectives end with "Invalid NCCL_COMM_ID"; an address always works.

# Prints the IPv4 address of each node of the job, one a line, in the order of their ranks.
node_addresses() {
  local names name address
  names=$(scontrol show hostnames "$SLURM_JOB_NODELIST") || return
  while read -r name; do
    address=$(scontrol show node --oneliner "$name" | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p')
    if [[ ! $address =~ ^[0-9]+(\.[0-9]+){3}$ ]]; then
      echo "Slurm has no address for $name yet, but '$address'" >&2
      return 1
    fi
    echo "$address"
  done <<< "$names"
}
