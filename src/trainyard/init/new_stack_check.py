"""Whether a new stack file passes `check`, and `check --live`, before it is written."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.components.config.provider_settings import provider_problems
from trainyard.init.design import StackDesign
from trainyard.init.document import stack_file_text
from trainyard.stack_files.stack_files import find_stack_file

if TYPE_CHECKING:
    from trainyard.components.config.load import AnyStackConfig
    from trainyard.components.preflight.run import Preflight

_VPC, _SUBNETS = "vpc-00000000", ("subnet-0000000a", "subnet-0000000b")
_USERS_OWN = ("custom_ami_id", "availability_zone", "availability_zones")
"""Last parts of keys that may stay missing, besides the ids that `completed` fills in."""


def refuse_invalid(design: StackDesign) -> None:
    """Plan the stack, with placeholders for the ids that are not known.

    Raises:
        ConfigError: the choices contradict each other; the error lists every problem.
    """
    problems = [
        problem
        for problem in _problems(_completed(design))
        if not (problem.found is None and problem.path.endswith(_USERS_OWN))
    ]
    if problems:
        raise ConfigError(problems, stack_file=f"init {design.name}")


def missing_values(design: StackDesign) -> list[Problem]:
    """Return the keys that only the account knows, with the commands that set them."""
    return _problems(design)


def account_problems(design: StackDesign) -> Preflight:
    """Return the checks of `check --live` for a stack."""
    from trainyard.components.preflight.run import run_preflight

    return run_preflight(
        _config(design), stack_file=_name(design), region=design.region, now=clock.now()
    )


def _problems(design: StackDesign) -> list[Problem]:
    name = _name(design)
    profile = design.profile or None
    found = provider_problems(region=design.region, profile=profile, stack_file=name)
    try:
        plan_stack(_config(design), stack_file=name, region=design.region, now=clock.now())
    except ConfigError as error:
        found += error.problems
    return found


def _config(design: StackDesign) -> AnyStackConfig:
    """Return the configuration as it is read from the file that will be written."""
    name = _name(design)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / name
        path.write_text(stack_file_text(design, command="./trainyard init"), encoding="utf-8")
        read = find_stack_file(design.name, path=path)
        return load_stack_config(read.cluster, stack_file=name, written=read.written)


def _name(design: StackDesign) -> str:
    return f"Pulumi.{design.name}.yaml"


def _completed(design: StackDesign) -> StackDesign:
    """Return the design with placeholders for the ids of network and reservations."""
    network = design.network
    if network.kind == "existing-vpc":
        public, private = _SUBNETS
        network = replace(
            network,
            vpc_id=network.vpc_id or _VPC,
            public_subnet_ids=(
                (public,) if network.public_subnet_ids is None else network.public_subnet_ids
            ),
            private_subnet_ids=network.private_subnet_ids or (private,),
        )
    pools = tuple(
        replace(pool, reserved=replace(pool.reserved, reservation_id=f"cr-{index:017x}"))
        if pool.reserved is not None and pool.reserved.reservation_id is None
        else pool
        for index, pool in enumerate(design.pools)
    )
    return replace(design, network=network, pools=pools)
