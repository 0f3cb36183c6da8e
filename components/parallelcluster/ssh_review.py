"""Checks of user access to the head node.

https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html, `Ssh`
"""

from __future__ import annotations

from trainyard.components.catalog.parallelcluster import OPERATING_SYSTEMS_WITHOUT_RSA_KEYS
from trainyard.components.config.parallelcluster import HeadNode, OperatingSystem
from trainyard.components.config.problems import Review

KEY = "architecture.head_node.ssh"
SESSION_MANAGER_POLICY = "AmazonSSMManagedInstanceCore"
"""Session Manager requires it.

https://docs.aws.amazon.com/systems-manager/latest/userguide/setup-instance-permissions.html
"""
_EVERYBODY = "0.0.0.0/0"


def review_ssh(
    node: HeadNode, operating_system: OperatingSystem, review: Review, *, public: bool
) -> None:
    """Record problems of key pairs, and note who can connect."""
    ssh = node.ssh
    if ssh.key_name is not None and ssh.public_key is not None:
        review.refuse(
            f"{KEY}.public_key",
            "is given together with `key_name`; a head node has one key pair",
            found=ssh.public_key,
            allowed="one of `key_name` and `public_key`",
            remedy="remove one of the two",
            rules=("E8",),
        )
    rsa = ssh.public_key is not None and ssh.public_key.startswith("ssh-rsa ")
    if rsa and operating_system in OPERATING_SYSTEMS_WITHOUT_RSA_KEYS:
        review.refuse(
            f"{KEY}.public_key",
            f"is an RSA key, which {operating_system} does not accept (KeyPairValidator)",
            found=ssh.public_key,
            allowed="an ssh-ed25519 key",
            remedy="create one: ssh-keygen -t ed25519; or use Session Manager without a key: "
            f"{review.remove_command(f'{KEY}.public_key')}",
            rules=("E8",),
        )
    _note_access(node, review, public=public)


def _note_access(node: HeadNode, review: Review, *, public: bool) -> None:
    ssh = node.ssh
    has_key = ssh.key_name is not None or ssh.public_key is not None
    policies = {name.rpartition("/")[2] for name in node.iam_policies}
    closed = ssh.allowed_cidr is None
    restrict = review.set_command(f"{KEY}.allowed_cidr", "YOUR.NET.WORK.0/24")
    if (closed or not has_key) and SESSION_MANAGER_POLICY not in policies:
        missing = "its SSH port is closed" if has_key else "it has no SSH key"
        review.note(
            f"head node: no user can log in: {missing}, and its role lacks "
            f"{SESSION_MANAGER_POLICY} for Session Manager"
        )
    elif has_key and closed:
        review.note(
            "head node: no network can open SSH connections; use Session Manager, or allow your "
            f"network: {restrict}"
        )
    if has_key and not public and not closed:
        review.note(
            "head node: SSH works only from inside the VPC or through Session Manager, because "
            "its subnet is private"
        )
    if public and ssh.allowed_cidr == _EVERYBODY:
        review.note(f"head node: SSH is open to the internet; restrict it: {restrict}")
