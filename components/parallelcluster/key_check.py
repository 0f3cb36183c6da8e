"""Checks of the key pair for SSH access to a head node."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts
from trainyard.components.catalog.parallelcluster import OPERATING_SYSTEMS_WITHOUT_RSA_KEYS
from trainyard.components.checks.key_pair_check import missing_key_problems
from trainyard.components.config.parallelcluster import ParallelClusterArchitecture
from trainyard.components.config.parallelcluster_stack import ParallelClusterStackConfig
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.tagging import CLUSTER_TAG

KEY = f"{ROOT}.architecture.head_node.ssh.key_name"
PUBLIC_KEY = f"{ROOT}.architecture.head_node.ssh.public_key"


def key_problems(
    architecture: ParallelClusterArchitecture, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield why users could not log in to the head node with the key pair."""
    key_name = architecture.head_node.ssh.key_name
    yield from missing_key_problems(
        KEY,
        key_name,
        facts,
        loss="the head node would not launch",
        remedy="set `public_key` instead of `key_name`, which the stack imports",
    )
    system, key_type = architecture.operating_system, facts.key_pairs.get(key_name or "")
    if system in OPERATING_SYSTEMS_WITHOUT_RSA_KEYS and key_type == "rsa":
        yield Problem(
            path=KEY,
            found=f"{key_name}, of type rsa",
            problem=f"{system} does not accept RSA keys; no user could log in",
            allowed="a key pair of type ed25519",
            remedy=(
                "create one (`aws ec2 create-key-pair --key-type ed25519 --key-name NAME`), and "
                "set its name"
            ),
        )


def replaced_key_problems(
    config: ParallelClusterStackConfig, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield a problem if importing a public key would change the key pair of an existing cluster.

    The name of an imported key pair is known only after its creation, so the comparison of cluster
    configurations cannot detect it.
    """
    wanted, deployed = config.architecture.head_node.ssh.public_key, facts.deployed_key
    if wanted is None or deployed is None:
        return
    imported = deployed.tags.get(CLUSTER_TAG) == config.name
    public_key = " ".join(deployed.public_key.split()[:2])  # without the comment
    if imported and wanted == public_key:
        return
    yield Problem(
        path=PUBLIC_KEY,
        found=wanted,
        problem=(
            "changes `HeadNode.Ssh.KeyName`, which ParallelCluster cannot change in a cluster that "
            "exists"
        ),
        allowed=f"as deployed: {public_key if imported else deployed.name}",
        remedy=(
            f"{'set it back' if imported else f'set key_name to {deployed.name} instead'}; to give "
            "other users access, add their keys to ~/.ssh/authorized_keys on the head node"
        ),
    )
