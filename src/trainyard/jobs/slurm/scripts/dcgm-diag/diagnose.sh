# shellcheck shell=bash
# The diagnostics of one node. The AMIs of ParallelCluster have DCGM, whose service is stopped.
node=$(hostname -s)
if ! command -v dcgmi > /dev/null; then
  echo "[dcgm $node] the node has no dcgmi: use an AMI of ParallelCluster, or install DCGM"
  exit
fi
sudo systemctl start nvidia-dcgm.service ||
  echo "[dcgm $node] the service nvidia-dcgm cannot be started"
# As the health check of ParallelCluster does: without it, the diagnostics report a fault.
sudo nvidia-smi --persistence-mode=1 > /dev/null || true
@diagnose@
