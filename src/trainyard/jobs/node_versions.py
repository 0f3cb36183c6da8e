"""Commands that print the versions on a node that must agree on all nodes of a test.

Kernel, drivers and modules are those of the host, also in a container; the EFA installer and
libfabric are those of the container.

Source:
    https://docs.nvidia.com/deploy/nvidia-smi/ (`--query-gpu`)
    https://www.gnu.org/software/bash/manual/bash.html#index-ulimit (`-l`: KiB, or `unlimited`)
    https://github.com/amzn/amzn-drivers, `efa_main.c`: the module has a version, as
        `/sys/module/efa/version`
    https://github.com/awslabs/awsome-distributed-ai, `efa-versions.py` of
        4.validation_and_observability: `/opt/amazon/efa_installed_packages` and `fi_info --version`
"""

from __future__ import annotations

VERSIONS_SCRIPT = "versions.sh"
"""Its name in a directory of scripts."""
NODE_VERSIONS = """\
# shellcheck shell=bash
node=${NODE_NAME:-$(hostname -s)}
version() {
  if [ -n "$2" ]; then echo "[version $node] $1: $2"; fi
}
version kernel "$(uname -r)"
version 'NVIDIA driver' "$(nvidia-smi --id=0 --query-gpu=driver_version --format=csv,noheader \\
  2> /dev/null | head -n 1)"
version 'Neuron driver' "$(cat /sys/module/neuron/version 2> /dev/null)"
version 'EFA driver' "$(cat /sys/module/efa/version 2> /dev/null)"
version 'EFA installer' "$(sed -n 's/^# EFA installer version: //p' \\
  /opt/amazon/efa_installed_packages 2> /dev/null)"
version 'locked memory limit' "$(ulimit -l)"
version libfabric "$(/opt/amazon/efa/bin/fi_info --version 2> /dev/null |
  sed -n 's/^libfabric: //p')"
"""
"""A Bash script that prints a line such as `[version NODE] NVIDIA driver: 580.95.05` for each."""
LOCKED_MEMORY = 'echo "[version $HOSTNAME] locked memory limit: $(ulimit -l)" >&2\n'
"""Bash command that prints one of these lines for a program of a user, to its standard error."""
NODE_FIELDS = {"NODE_NAME": "spec.nodeName"}
"""Variables of the pods of a job that runs `REPORT_NODES`: fields of the pod, by name."""
REPORT_NODES = f"""\
for host in "${{hosts[@]}}"; do
  echo "[node $host] $(ssh "$host" printenv NODE_NAME)"
  ssh "$host" bash -s << 'END' || echo "the versions of $host cannot be read"
{NODE_VERSIONS}END
done
"""
"""Bash commands of `mpi.py` that print the name of each pod's node, and its versions."""
