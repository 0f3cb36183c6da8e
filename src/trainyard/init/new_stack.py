"""A new stack file before it is written: its directory, and whether it passes `check`."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.components.config.provider_settings import (
    PROFILE_KEY,
    REGION_KEY,
    provider_problems,
)
from trainyard.components.typed_command import as_typed
from trainyard.init.design import StackDesign
from trainyard.init.document import stack_file_text
from trainyard.init.question import Ask, Question
from trainyard.stack_files import stacks_directory
from trainyard.stack_files.files import refuse_unwritable_directory, write_new, write_whole
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.stack_files import find_stack_file

if TYPE_CHECKING:
    from trainyard.components.architectures.preflight import Preflight
    from trainyard.components.config.load import AnyStackConfig


DEFAULT_DIRECTORY = "~/trainyard-stacks"
"""Directory for stack files that is proposed in a clone."""


def new_stack_directory(ask: Ask, *, yes: bool) -> Path | None:
    """Return the directory of the file, which may not exist yet; None without an answer.

    Raises:
        FileRefusedError: no file can be written in it.
    """
    directory = _stack_directory(ask, yes=yes)
    if directory is not None:
        refuse_unwritable_directory(directory)
    return directory


def _stack_directory(ask: Ask, *, yes: bool) -> Path | None:
    chosen = stacks_directory.chosen_directory()
    here = Path(os.path.realpath("."))
    clone = INSTALLATION.clone
    if chosen is not None and chosen != clone:
        return chosen
    if stacks_directory.is_stacks_directory(here):
        return here
    if clone is None or (not here.is_relative_to(clone) and not any(here.iterdir())):
        return here
    remembered = stacks_directory.stacks_directory() if chosen is None else clone
    if remembered != clone:
        return remembered
    question = Question(
        option="--stacks",
        text="In which directory do you want to keep your stack files?",
        default=(DEFAULT_DIRECTORY,) if yes else None,
        suggested=(DEFAULT_DIRECTORY,),
        otherwise=f" before `init`; or `--yes` for {DEFAULT_DIRECTORY}",
    )
    answer = ask(question)
    return Path(answer[0]).expanduser().absolute() if answer else None


def write_new_stack(path: Path, text: str) -> None:
    """Write a stack file that does not exist yet, and its directory.

    Raises:
        FileExistsError: the file exists.
    """
    stacks_directory.create(path.parent)
    write_new(path, as_typed(text))


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
    from trainyard.components.architectures.preflight import run_preflight

    return run_preflight(
        _config(design), stack_file=_name(design), region=design.region, now=clock.now()
    )


def _problems(design: StackDesign) -> list[Problem]:
    name = _name(design)
    profile = design.profile or None
    given = {REGION_KEY: design.region, PROFILE_KEY: profile}
    found = provider_problems(given, stack_file=name)
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
        write_whole(path, stack_file_text(design, command="./trainyard init"))
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
