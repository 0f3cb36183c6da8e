"""The command that makes a stack file again, without a question."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from trainyard.init.design import KINDS, NEW_VPC, InitRequest, StackDesign


def repeat_command(design: StackDesign, request: InitRequest) -> str:
    """Return the command that makes the same file without a question."""
    words = ["./trainyard", "init", design.name]
    words += ["--from", request.example] if request.example else ["--kind", design.kind]
    words += ["--sandbox"] if request.sandbox else ["--region", design.region]
    words += ["--profile", design.profile] if design.profile else []
    network = design.network
    if KINDS[design.kind].pools:
        vpc = NEW_VPC if network.kind == "new-vpc" else network.vpc_id
        words += ["--vpc", vpc] if vpc else []
    for subnet in (*(network.private_subnet_ids or ()), *(network.public_subnet_ids or ())):
        words += ["--subnet", subnet]
    words += list(_capacity_words(design))
    words += ["--api-networks", ",".join(design.api_networks)] if design.api_networks else []
    if design.storage is not None:
        size, system = design.storage.capacity_gib, design.storage.file_system_id
        words += ["--lustre-gib", str(size)] if size else ["--file-system", str(system)]
    words += ["--key-pair", design.key_pair] if design.key_pair else []
    return shlex.join([*words, "--yes"])


def _capacity_words(design: StackDesign) -> Iterator[str]:
    for pool in design.pools:
        if pool.reserved is not None and pool.reserved.reservation_id is not None:
            yield from ("--reservation", pool.reserved.reservation_id)
    for pool in design.pools:
        if pool.reserved is None and not pool.example_pool:
            yield from ("--instance-type", pool.instance_type)
    counts = [pool.nodes for pool in design.pools]
    if counts:
        for count in counts if len(set(counts)) > 1 else counts[:1]:
            yield from ("--nodes", str(count))
