"""The stacks whose keys are changed: every stack file, and variants of some."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from tests.support.changes.edits import Edit, edits
from tests.support.changes.rows import Base, planned
from tests.support.changes.run import by_key, deployed
from tests.support.changes.world import after_up
from tests.support.kubernetes import PREVIOUS
from tests.support.stacks import STACKS, account_facts, stack_config
from trainyard.components.config.load import load_stack_config

_LUSTRE = {
    "kind": "fsx-lustre",
    "availability_zone": "us-west-2b",
    "per_unit_storage_throughput": 125,
}
_PREVIOUS = {"architecture": {"kubernetes_version": PREVIOUS}}
_VERSION = ("architecture", "kubernetes_version")
_SLURM_IN_A_BLOCK = {
    "reservations": {"block": {"kind": "capacity-block", "reservation_id": "cr-0123456789abcdef0"}},
    "architecture": {
        "queues": {
            "compute-gpu": {
                "purchase_option": "block",
                "compute_resources": {
                    "distributed-ml": {
                        "instance_type": "p5.48xlarge",
                        "minimum": 2,
                        "maximum": 2,
                    }
                },
            }
        },
        "slurm": {"queue_update_strategy": "DRAIN"},
    },
}
_SCHEDULED, _ENDING, _OVER = (f"cr-0cb0000000000000{number}" for number in (1, 2, 3))


def _block(reservation_id: str) -> Mapping[str, Any]:
    return {"kind": "capacity-block", "reservation_id": reservation_id}


def _with_blocks(section: str, pool: str, *further: str) -> Mapping[str, Any]:
    """Return a pool whose block has not started, with the entry `block` as a further one."""
    blocks = {"next": _block(_SCHEDULED), "ending": _block(_ENDING), "over": _block(_OVER)}
    changes = {"purchase_option": "next", "further_blocks": [*further]}
    return {"reservations": blocks, "architecture": {section: {pool: changes}}}


_SLURM_IN_BLOCKS = {
    "reservations": {
        "block": _block("cr-0123456789abcdef0"),
        **_with_blocks("", "")["reservations"],
    },
    "architecture": {
        "queues": {
            "compute-gpu": {
                "purchase_option": "next",
                "compute_resources": {
                    "distributed-ml": {
                        "instance_type": "p5.48xlarge",
                        "minimum": 2,
                        "maximum": 2,
                        "further_blocks": ["block", "over"],
                    }
                },
            }
        },
        "slurm": {"queue_update_strategy": "DRAIN"},
    },
}
_GROUP = ("architecture", "node_groups", "p5", "further_blocks")
VARIANTS: Mapping[str, tuple[str, Mapping[str, Any], tuple[str, ...]]] = {
    "p5-cb with storage": (
        "p5-cb",
        {
            "storage": {
                "kept": _LUSTRE,
                "scratch": {
                    **_LUSTRE,
                    "deletion_protection": False,
                    "deployment_type": "PERSISTENT_1",
                    "per_unit_storage_throughput": 200,
                },
            }
        },
        ("storage",),
    ),
    "pc-gpu with storage": (
        "pc-gpu",
        {
            "storage": {
                "home": {"kind": "efs", "mount_directory": "/shared", "deletion_protection": False},
                "disk": {
                    "kind": "ebs",
                    "mount_directory": "/disk",
                    "size_gib": 100,
                    "deletion_protection": False,
                },
                "zfs": {"kind": "fsx-openzfs", "mount_directory": "/zfs"},
            }
        },
        ("storage",),
    ),
    "pc-gpu in a Capacity Block": ("pc-gpu", _SLURM_IN_A_BLOCK, ("reservations", "block")),
    "p5-cb in several blocks": (
        "p5-cb",
        _with_blocks("node_groups", "p5", "block", "over"),
        _GROUP,
    ),
    "p5-cb-managed in several blocks": (
        "p5-cb-managed",
        _with_blocks("node_groups", "p5", "block", "over"),
        _GROUP,
    ),
    "batch-p5 in several blocks": (
        "batch-p5",
        _with_blocks("compute_environments", "p5", "block"),
        ("architecture", "compute_environments", "p5", "further_blocks"),
    ),
    "pc-gpu in several blocks": (
        "pc-gpu",
        _SLURM_IN_BLOCKS,
        (
            "architecture",
            "queues",
            "compute-gpu",
            "compute_resources",
            "distributed-ml",
            "further_blocks",
        ),
    ),
    "p5-cb on the previous version": ("p5-cb", _PREVIOUS, _VERSION),
    "p5-cb-managed on the previous version": ("p5-cb-managed", _PREVIOUS, _VERSION),
    "eks-p5-odcr on the previous version": ("eks-p5-odcr", _PREVIOUS, _VERSION),
}
"""Stack file, additional values, and the keys that are changed, by the name of the golden."""
NAMES = (*STACKS, *VARIANTS)
_PLAIN: tuple[Mapping[str, Any], tuple[str, ...]] = ({}, ())


def raw_of(name: str) -> dict[str, Any]:
    """Return the configuration of a base without settings of policy rules, which have no effect."""
    stack, more, _ = VARIANTS.get(name, (name, *_PLAIN))
    raw = _merged(stack_config(stack)["trainyard:cluster"], more)
    return {key: value for key, value in raw.items() if key != "policies"}


def kind_of(name: str) -> str:
    """Return the architecture of a base."""
    return raw_of(name)["architecture"]["kind"]


def _merged(raw: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    both = {key: _merged(raw.get(key) or {}, more[key]) for key in more if _is_map(more[key])}
    return {**raw, **more, **both}


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


@cache
def base(name: str) -> Base:
    """Return a stack that is up."""
    stack, *_ = VARIANTS.get(name, (name, *_PLAIN))
    raw = raw_of(name)
    plan = planned(raw, stack, account_facts())
    facts = after_up(plan)
    resources = by_key(deployed(plan, stack))
    # The same in an account that has the stack: facts of the account become a part of the plan.
    again = planned(raw, stack, facts)
    return Base(name=stack, raw=raw, plan=again, facts=facts, resources=resources)


def edits_of(name: str) -> list[Edit]:
    """Return every change of one key of a base, or for a variant only the changes it is for."""
    raw = raw_of(name)
    stack, _, keys = VARIANTS.get(name, (name, *_PLAIN))
    found = edits(raw, load_stack_config(raw, stack_file=f"Pulumi.{stack}.yaml"))
    return [each for each in found if each.path[: len(keys)] == keys]
