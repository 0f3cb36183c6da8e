"""A cluster that is up, and ways to change its configuration."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from components.config.parallelcluster import Slurm
from components.parallelcluster.references import Reference, resolve
from components.parallelcluster.rendering.cluster import render_cluster
from components.parallelcluster.update_verdicts import Way
from tests.support.parallelcluster import p4de_plan

Config = dict[str, Any]
QUEUE = "Scheduling.SlurmQueues.0"
RESOURCE = f"{QUEUE}.ComputeResources.0"


def deployed(strategy: str = "DRAIN", plan: Any = None) -> Config:
    """Return the configuration of a p4de cluster that is up, with ids in place of references."""
    chosen = plan or p4de_plan()
    slurm = Slurm(**{**chosen.slurm.model_dump(), "queue_update_strategy": strategy})
    return resolve(render_cluster(replace(chosen, slurm=slurm)), id_of)


def id_of(reference: Reference) -> str:
    """Return an id for a reference; subnets of an existing VPC are already ids."""
    return reference.name


def texts(value: Any) -> Any:
    """Return a document as CloudFormation passes it on: every scalar is a string."""
    if isinstance(value, dict):
        return {key: texts(each) for key, each in value.items()}
    if isinstance(value, list):
        return [texts(each) for each in value]
    return json.dumps(value) if isinstance(value, bool | int) else value


@dataclass(frozen=True, kw_only=True)
class Case:
    """One change, and the verdict on it while the fleet runs."""

    name: str
    changed: Callable[[Config], None]
    way: Way | None
    """None if ParallelCluster accepts it."""
    key: str = ""
    """Key of the stack file that the refusal names, below `trainyard:cluster`."""
    strategy: str = "DRAIN"
    before: Callable[[Config], None] | None = None
    """Differences of the deployed configuration from the p4de cluster."""

    def configurations(self) -> tuple[Config, Config]:
        """Return the configuration that is deployed, and the wanted one."""
        old = deployed(self.strategy)
        if self.before:
            self.before(old)
        new = copy.deepcopy(old)
        self.changed(new)
        return old, new


def put(path: str, value: Any) -> Callable[[Config], None]:
    """Return a function that sets a value; list entries are addressed by index."""

    def change(config: Config) -> None:
        holder, key = _holder(config, path)
        holder[key] = value

    return change


def drop(path: str) -> Callable[[Config], None]:
    """Return a function that removes a key, or an item of a list."""

    def change(config: Config) -> None:
        holder, key = _holder(config, path)
        del holder[key]

    return change


def add(path: str, item: Any) -> Callable[[Config], None]:
    """Return a function that appends an item to a list."""

    def change(config: Config) -> None:
        holder, key = _holder(config, path)
        holder[key].append(copy.deepcopy(item))

    return change


def both(*changes: Callable[[Config], None]) -> Callable[[Config], None]:
    """Return a function that makes several changes."""

    def change(config: Config) -> None:
        for each in changes:
            each(config)

    return change


def _holder(config: Any, path: str) -> tuple[Any, Any]:
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in way:
        config = config[part]
    return config, last
