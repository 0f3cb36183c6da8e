"""How to copy a job's directory to the head node, and the commands to run there.

Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/ssh-v3.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/connect-ssm-v3.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Image-section-v3.html: the default user
"""

from __future__ import annotations

import shlex
import textwrap

from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.tagging import PARALLELCLUSTER_NODE_TAG, PARALLELCLUSTER_TAG
from trainyard.jobs.slurm.directory import JobDirectory
from trainyard.jobs.slurm.nodes import SlurmNodes

_USERS = {"ubuntu": "ubuntu", "rocky": "rocky"}
_DEFAULT_USER = "ec2-user"


def default_user(operating_system: str) -> str:
    """Return the default user of ParallelCluster's AMIs, who also runs the jobs."""
    found = (user for name, user in _USERS.items() if operating_system.startswith(name))
    return next(found, _DEFAULT_USER)


def head_node_filters(cluster_name: str) -> dict[str, str]:
    """Return the filters of `DescribeInstances` for the running head node of a cluster."""
    return {
        f"tag:{PARALLELCLUSTER_TAG}": cluster_name,
        f"tag:{PARALLELCLUSTER_NODE_TAG}": "HeadNode",
        "instance-state-name": "running",
    }


def next_steps(
    plan: ParallelClusterPlan, job: JobDirectory, nodes: SlurmNodes, directory: str
) -> str:
    """Return the next commands as text: copy, submit, watch, read.

    Args:
        plan: Plan of the stack.
        job: The written job.
        nodes: The nodes that the job runs on.
        directory: Path of the directory on this machine; its last part is also its name on the head
            node.
    """
    name = directory.rstrip("/").rpartition("/")[2]
    steps = [
        ("Copy it to the head node, into the home directory that all nodes share:", _copy),
        ("Log in:", _login),
    ]
    text = [f"{title}\n\n{_block(step(plan, directory))}" for title, step in steps]
    text.append(f"Submit it there:\n\n{_block((f'cd {shlex.quote(name)}', *job.submit))}")
    text.append(f"Watch it:\n\n{_block(_watch(nodes))}")
    text.append(f"Read the result:\n\n{_block(job.results)}")
    return "\n\n".join(text) + "\n"


def _block(lines: tuple[str, ...]) -> str:
    return textwrap.indent("\n".join(lines), "    ")


def _has_key(plan: ParallelClusterPlan) -> bool:
    return bool(plan.head_node.key_name or plan.head_node.public_key)


def _lookup(plan: ParallelClusterPlan, wanted: str) -> str:
    filters = " \\\n      ".join(
        f"Name={name},Values={value}" for name, value in head_node_filters(plan.name).items()
    )
    return (
        f"$(aws ec2 describe-instances --region {plan.region} --output text \\\n"
        f"      --filters {filters} \\\n"
        f"      --query 'Reservations[].Instances[].{wanted}')"
    )


def _copy(plan: ParallelClusterPlan, directory: str) -> tuple[str, ...]:
    user, path = default_user(plan.operating_system), shlex.quote(directory)
    if _has_key(plan) and plan.head_node.public:
        return (
            f"head={_lookup(plan, 'PublicIpAddress')}",
            f'scp -i KEY_FILE -r {path} {user}@"$head":',
        )
    head = f"head={_lookup(plan, 'InstanceId')}"
    if _has_key(plan):
        proxy = (
            f"aws ssm start-session --region {plan.region} --target %h "
            "--document-name AWS-StartSSHSession --parameters portNumber=%p"
        )
        return head, f'scp -i KEY_FILE -o ProxyCommand="{proxy}" -r {path} {user}@"$head":'
    # There is no SSH key; the scripts are small enough to be part of the command.
    parent, _, name = directory.rstrip("/").rpartition("/")
    archive = f"tar -C {shlex.quote(parent or '.')} -czf - {shlex.quote(name)}"
    unpack = f"echo $({archive} | base64 | tr -d '\\n') | base64 -d | sudo -iu {user} tar -xzf -"
    send = f'aws ssm send-command --region {plan.region} --instance-ids "$head"'
    commands = f'--document-name AWS-RunShellScript --parameters "commands=[\\"{unpack}\\"]"'
    return head, f"{send} {commands}"


def _login(plan: ParallelClusterPlan, directory: str) -> tuple[str, ...]:
    del directory
    user = default_user(plan.operating_system)
    if _has_key(plan) and plan.head_node.public:
        return (f'ssh -i KEY_FILE {user}@"$head"',)
    return (
        f'aws ssm start-session --region {plan.region} --target "$head"',
        f"sudo -iu {user}",
    )


def _watch(nodes: SlurmNodes) -> tuple[str, ...]:
    partition = nodes.queue.name
    return (
        f"squeue --partition {partition}",
        f"sinfo --partition {partition} --Node --format '%N %t %f'",
    )
