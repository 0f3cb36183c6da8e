"""User data of Batch nodes, as a MIME multipart archive, which Batch requires.

Batch adds a part with the cluster of the ECS agent. Any other format makes the compute environment
INVALID.

Sources:
    https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html, "Amazon EC2 user data
    in launch templates"
    https://cloudinit.readthedocs.io/en/latest/explanation/format.html#mime-multi-part-archive
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

SCRATCH = "/scratch"
"""Mount point of the instance store, on the node and in the containers of its jobs."""

# On Amazon Linux 2023 the ECS agent starts after the last stage of cloud-init, which runs shell
# scripts, so the disks are ready before any job. The AMI has no mdadm; the AL2023 repository is in
# S3 of the region and reachable through a gateway endpoint.
# https://docs.aws.amazon.com/linux/al2023/ug/ec2.html
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/raid-config.html
# https://docs.aws.amazon.com/ebs/latest/userguide/nvme-ebs-volumes.html: the model distinguishes
# instance store disks from EBS volumes, the device name does not.
# https://github.com/aws/amazon-ecs-ami, al2023.pkr.hcl: contents of the AMI.
_RAID0 = f"""\
#!/bin/bash
set -euo pipefail
model='Amazon EC2 NVMe Instance Storage'
mapfile -t disks < <(lsblk --nodeps --noheadings --paths --output NAME,MODEL \\
  | awk -v model="$model" 'index($0, model) {{ print $1 }}')
mkdir -p {SCRATCH}
if (( ${{#disks[@]}} == 0 )); then
  echo "no instance store disks: {SCRATCH} is on the root volume" >&2
elif (( ${{#disks[@]}} == 1 )); then
  mkfs.xfs -f "${{disks[0]}}"
  mount -o noatime "${{disks[0]}}" {SCRATCH}
else
  command -v mdadm >/dev/null || dnf install -y --setopt=retries=10 mdadm
  mdadm --create /dev/md/scratch --level=0 --name=scratch --run --homehost=any \\
    --raid-devices="${{#disks[@]}}" "${{disks[@]}}"
  mkfs.xfs -f /dev/md/scratch
  mount -o noatime /dev/md/scratch {SCRATCH}
fi
chmod 1777 {SCRATCH}
"""

# A container of a multi-node parallel job has its own interface (`awsvpc`), from which the metadata
# service, with the credentials of the node, is one hop away, as from the node. Such a container
# does not need it: the job credentials come from the ECS agent at another address. The agent reads
# its configuration when it starts, after cloud-init.
# https://github.com/aws/amazon-ecs-agent, README.md: ECS_AWSVPC_BLOCK_IMDS, false by default
# https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ec2-security-considerations.html
_AGENT = """\
#!/bin/bash
echo ECS_AWSVPC_BLOCK_IMDS=true >> /etc/ecs/ecs.config
"""

# The repository of Amazon Linux 2023 has the agent. If this fails, the node runs jobs without it.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/install-CloudWatch-Agent-on-EC2-Instance-fleet.html
_METRICS = """\
#!/bin/bash
set -euo pipefail
test -x /opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl \\
  || dnf install -y --setopt=retries=10 amazon-cloudwatch-agent
"""

_BOUNDARY = "trainyard-node"


def render_user_data(
    local_nvme: Literal["raid0", "none"], *, agent_script: str | None = None
) -> str:
    """Return the user data of a node as plain text.

    Args:
        local_nvme: What to do with the instance store disks.
        agent_script: Shell script that configures the CloudWatch agent, which is installed before.

    The ECS agent blocks the instance metadata service for containers of multi-node parallel jobs.
    With `raid0`, all instance store disks form one file system at `SCRATCH`. Stopping an instance
    would lose its data, but Batch only terminates instances.
    """
    raid0 = [("x-shellscript", _RAID0)] if local_nvme == "raid0" else []
    metrics = [("x-shellscript", _METRICS + agent_script)] if agent_script else []
    return multipart([("x-shellscript", _AGENT), *raid0, *metrics])


def multipart(parts: Sequence[tuple[str, str]]) -> str:
    """Return a MIME multipart archive of (text, MIME subtype) parts.

    Raises:
        ValueError: a text contains the boundary line.
    """
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"', ""]
    for subtype, text in parts:
        if f"--{_BOUNDARY}" in text:
            raise ValueError(f"user data must not contain `--{_BOUNDARY}`")
        lines += [f"--{_BOUNDARY}", f'Content-Type: text/{subtype}; charset="us-ascii"', "", text]
    return "\n".join([*lines, f"--{_BOUNDARY}--", ""])
