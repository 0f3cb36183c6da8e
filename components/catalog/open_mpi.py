"""How Open MPI's mpirun starts a program: one process per accelerator.

Data between accelerators goes over NCCL or the Neuron runtime, and only control messages over MPI.
Therefore MPI itself uses TCP, as in AWS's guide to NCCL with EFA. The settings are variables, which
a user can override, and not options.

Source:
    https://www.open-mpi.org/doc/v4.1/man1/mpirun.1.php (`-x`; `OMPI_*` are exported; on SIGTERM,
        mpirun sends SIGTERM to all processes, waits, and kills them)
    https://github.com/open-mpi/ompi/blob/v4.1.x/orte/mca/odls/base/odls_base_frame.c:
        `odls_base_sigkill_timeout`, the time of this wait
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from trainyard.components.catalog.nccl import MPI

OPEN_MPI_ENVIRONMENT = {
    "OMPI_MCA_pml": "^cm,ucx",
    "OMPI_MCA_btl": "tcp,self",
    # Interfaces of the node without a route to other nodes: of Docker, the VPC CNI and ECS.
    "OMPI_MCA_btl_tcp_if_exclude": "lo,docker0,veth_def_agent,ecs-eth0",
}


def mpirun_script(
    program: Sequence[str],
    *,
    ranks: str,
    processes: int,
    hosts: str,
    variables: Sequence[str],
    grace_seconds: int,
    options: str = "",
    prefix: str = "",
) -> str:
    """Return the Bash commands that start a program on some hosts, and become mpirun.

    mpirun is that of the image: on its PATH, or that of the EFA installer.

    Args:
        program: The program and its arguments.
        ranks: Number of processes, as a word of Bash.
        processes: Number of processes of a host.
        hosts: Words of Bash, one for each host.
        variables: Names of variables that the processes get.
        grace_seconds: Time between SIGTERM and SIGKILL.
        options: More options of mpirun, as Bash.
        prefix: Command that starts mpirun, with a space at its end.
    """
    exported = " ".join(f"-x {name}" for name in variables)
    # Another process of the container, such as an SSH server, must end within the grace too.
    wait = max(grace_seconds - 30, 1)
    return f"""\
mpirun=$(command -v mpirun || echo {MPI}/bin/mpirun)
hostfile=$(mktemp)
printf '%s slots={processes}\\n' {hosts} | tee "$hostfile"
exec {prefix}"$mpirun" --allow-run-as-root --tag-output --prefix "${{mpirun%/bin/*}}" \\
  -np {ranks} --hostfile "$hostfile" --map-by ppr:{processes}:node --bind-to none \\
  -x PATH ${{LD_LIBRARY_PATH+-x LD_LIBRARY_PATH}} {exported} \\
  --mca odls_base_sigkill_timeout {wait} {options}\\
  {shlex.join(program)}
"""
