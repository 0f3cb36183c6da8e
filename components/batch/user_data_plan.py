"""User data of Batch's nodes: MIME multipart, which is the only form that Batch takes.

Batch puts a part of its own beside ours, with the cluster of the ECS agent; what is no multipart
archive makes the compute environment INVALID.

Sources:
    https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html, "Amazon EC2 user data
    in launch templates"
    https://cloudinit.readthedocs.io/en/latest/explanation/format.html#mime-multi-part-archive
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

SCRATCH = "/scratch"
"""Where the disks of the instance are, on the node and in each container of its jobs."""

# On Amazon Linux 2023 the ECS agent starts after cloud-init's last stage, which runs shell
# scripts: no job comes before the disks. The image has no mdadm; AL2023's repository lies in S3 of
# the region, so that a gateway endpoint is a way to it.
# https://docs.aws.amazon.com/linux/al2023/ug/ec2.html
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/raid-config.html
# https://docs.aws.amazon.com/ebs/latest/userguide/nvme-ebs-volumes.html: the model tells an
# instance store disk from an EBS volume, the device name does not.
# https://github.com/aws/amazon-ecs-ami, al2023.pkr.hcl: what the image has.
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

# A container of a multi-node parallel job has an interface of its own (`awsvpc`), from which the
# metadata service is one hop away, as from the node, and with it the credentials of the node. Such
# a container needs nothing of it: the credentials of its job come from the ECS agent, on another
# address. The agent reads its configuration when it starts, after cloud-init.
# https://github.com/aws/amazon-ecs-agent, README.md: ECS_AWSVPC_BLOCK_IMDS, false by default
# https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ec2-security-considerations.html
_AGENT = """\
#!/bin/bash
echo ECS_AWSVPC_BLOCK_IMDS=true >> /etc/ecs/ecs.config
"""

_BOUNDARY = "trainyard-node"


def render_user_data(local_nvme: Literal["raid0", "none"]) -> str:
    """Return the user data of a node as plain text.

    The ECS agent closes the instance metadata service to containers of multi-node parallel jobs.
    With `raid0` all instance store disks become one file system at `SCRATCH`. Stopping the
    instance loses it; Batch terminates instances and never stops them.
    """
    raid0 = [("x-shellscript", _RAID0)] if local_nvme == "raid0" else []
    return multipart([("x-shellscript", _AGENT), *raid0])


def multipart(parts: Sequence[tuple[str, str]]) -> str:
    """Return a MIME multipart archive of texts, each with the subtype of its content.

    Raises:
        ValueError: a text contains the line that separates parts.
    """
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"', ""]
    for subtype, text in parts:
        if f"--{_BOUNDARY}" in text:
            raise ValueError(f"user data must not contain `--{_BOUNDARY}`")
        lines += [f"--{_BOUNDARY}", f'Content-Type: text/{subtype}; charset="us-ascii"', "", text]
    return "\n".join([*lines, f"--{_BOUNDARY}--", ""])
