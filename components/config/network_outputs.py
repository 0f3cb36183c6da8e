"""The network of another stack, from its stack outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from trainyard.components.config.network import ExistingVpc, StackNetwork
from trainyard.components.config.problems import ROOT, ConfigError, Problem

NETWORK_OUTPUTS = ("vpc_id", "public_subnet_ids", "private_subnet_ids")
"""Stack outputs that other stacks need to use a network, as fields of `ExistingVpc`."""
REGION_OUTPUT = "region"
"""Stack output with the region of the network."""
_PATH = f"{ROOT}.network.stack"


def network_of_outputs(
    reference: StackNetwork,
    outputs: Mapping[str, Any] | None,
    *,
    stack_file: str,
    region: str | None = None,
) -> ExistingVpc:
    """Return the network that another stack exports.

    Args:
        reference: The reference in the stack file.
        outputs: The outputs of that stack; None if the stack does not exist, empty if it was never
            deployed.
        stack_file: Name of the stack file, for messages.
        region: Region of the stack file; None if missing, which another check reports.

    Raises:
        ConfigError: the stack does not exist, is not deployed, exports no network, or is in another
            region.
    """
    if not outputs:
        raise ConfigError([_not_up(reference, exists=outputs is not None)], stack_file=stack_file)
    missing = [name for name in NETWORK_OUTPUTS if not _is_there(name, outputs.get(name))]
    if missing:
        raise ConfigError([_lacking(reference, missing, outputs)], stack_file=stack_file)
    there = outputs.get(REGION_OUTPUT)
    if there is not None and region is not None and there != region:
        raise ConfigError([_elsewhere(reference, there, region)], stack_file=stack_file)
    fields = {"kind": "existing-vpc", **{name: outputs[name] for name in NETWORK_OUTPUTS}}
    try:
        # Validated as JSON, like stack files: lists become tuples, and nothing else is converted.
        return ExistingVpc.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        wrong = sorted({str(each["loc"][0]) for each in error.errors()})
        raise ConfigError([_foreign(reference, wrong, outputs)], stack_file=stack_file) from error


def _is_there(name: str, value: object) -> bool:
    # Public subnets are optional; nodes need a private one.
    return bool(value) or (name == "public_subnet_ids" and value == [])


def _not_up(reference: StackNetwork, *, exists: bool) -> Problem:
    name = reference.stack.rpartition("/")[2]
    state = "has no outputs: it is not deployed" if exists else "does not exist in this backend"
    return Problem(
        path=_PATH,
        found=reference.stack,
        problem=f"the stack that provides the network {state}",
        allowed="the name of a deployed stack of `kind: network`",
        remedy=(
            f"deploy it first (`./trainyard up {name}`, with --sandbox in the sandbox), or correct "
            "the name"
        ),
    )


def _lacking(reference: StackNetwork, missing: list[str], outputs: Mapping[str, Any]) -> Problem:
    return Problem(
        path=_PATH,
        found=f"{reference.stack}, which exports {', '.join(sorted(outputs))}",
        problem=f"this stack does not provide a network: it does not export {', '.join(missing)}",
        allowed=f"a stack that exports {', '.join(NETWORK_OUTPUTS)}",
        remedy=(
            "name a stack of `architecture.kind: network`, such as vpc-one-az, or use `kind: "
            "existing-vpc` with the ids of the VPC and its subnets"
        ),
    )


def _elsewhere(reference: StackNetwork, there: object, region: str) -> Problem:
    return Problem(
        path=_PATH,
        found=f"{reference.stack}, in {there}",
        problem=f"this network is in a different region from the stack, which is in {region}",
        allowed=f"a stack of `kind: network` in {region}",
        remedy="name a network in this region, or change `aws:region`",
    )


def _foreign(reference: StackNetwork, wrong: list[str], outputs: Mapping[str, Any]) -> Problem:
    found = ", ".join(f"{name}: {outputs[name]}" for name in wrong)
    return Problem(
        path=_PATH,
        found=f"{reference.stack}, with {found}",
        problem="these outputs are not ids of a VPC and its subnets",
        allowed="one id of a VPC, and lists of ids of subnets",
        remedy=(
            "deploy that stack with this version of the program, or use `kind: existing-vpc` with "
            "the ids of the VPC and its subnets"
        ),
    )
