"""Load and validate a stack's configuration."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from trainyard.components.config.block_pools import BlockPools
from trainyard.components.config.network import ExistingVpc, StackNetwork, unread_network
from trainyard.components.config.problems import (
    ROOT,
    ConfigError,
    Problem,
    remove_command,
    set_command,
    stack_of,
)
from trainyard.components.config.review import Review
from trainyard.components.config.stack_models import given_model, narrowed
from trainyard.components.config.written import misread
from trainyard.components.plain_text import printable

if TYPE_CHECKING:
    from trainyard.components.config.stack import StackConfig
    from trainyard.components.config.stack_models import AnyStackConfig

_NAMESPACE, _, _KEY = ROOT.partition(":")


def load_stack_config(
    raw: object,
    *,
    stack_file: str,
    stray_keys: Sequence[str] = (),
    encrypted: bool = False,
    written: tuple[Any, Any] | None = None,
    network_of: Callable[[StackNetwork], ExistingVpc] = unread_network,
) -> AnyStackConfig:
    """Return the validated configuration of a stack file.

    `raw` is the value of `trainyard:cluster` from Pulumi or YAML, None if the key is missing.
    `stack_file` is the name of the file, such as `Pulumi.p5-cb.yaml`, and `stray_keys` are other
    keys in the namespace, such as `vpc_id` or `trainyard:vpc_id`. `encrypted` means that a value in
    `raw` was encrypted in the file. `written` is the value in the file and the same with every
    scalar as its text, if the file is known. `network_of` looks up the network of another stack, if
    the file references one; it is called after the whole file is validated.

    Raises:
        ConfigError: every problem of the file.
    """
    problems = [_stray(key, stack_file) for key in stray_keys]
    if encrypted:
        raise ConfigError([*problems, _encrypted()], stack_file=stack_file)
    if not isinstance(raw, Mapping):
        raise ConfigError([*problems, _no_object(raw, stack_file)], stack_file=stack_file)
    # Validated as JSON, which allows lists for tuples and strings for times, but no other
    # conversion.
    try:
        handed_on = _as_handed_on(raw)
        text = json.dumps(handed_on, default=_text)
    except (RecursionError, ValueError) as error:
        problem = _too_much(cast("Mapping[Any, Any]", raw), stack_file)
        raise ConfigError([*problems, problem], stack_file=stack_file) from error
    changed = misread(cast("Mapping[Any, Any]", raw), written)
    problems += changed
    try:
        config = given_model(_kind(handed_on)).model_validate_json(text)
    except ValidationError as error:
        from trainyard.components.config.explain import explain  # only imported for errors

        found = explain(error.errors(include_url=False), json.loads(text), stack_file=stack_file)
        # What YAML changed may not fit its field either.
        explained = {problem.path for problem in changed}
        found = [problem for problem in found if problem.path not in explained]
        raise ConfigError([*problems, *found], stack_file=stack_file) from error
    if problems:
        raise ConfigError(problems, stack_file=stack_file)
    config = _in_every_block(config, stack_file)
    network = config.network
    if not isinstance(network, StackNetwork):
        return narrowed(config, network)
    if network.stack in _own_names(stack_file):
        raise ConfigError([_own_network(network)], stack_file=stack_file)
    return narrowed(config, network_of(network))


def _in_every_block(config: StackConfig, stack_file: str) -> StackConfig:
    review = Review(stack_file=stack_file)
    blocks = BlockPools(reservations=config.reservations, review=review)
    architecture = config.architecture.in_every_block(blocks)
    review.close()
    return config.model_copy(update={"architecture": architecture})


def _own_names(stack_file: str) -> tuple[str, ...]:
    stack = stack_of(stack_file)
    # `organization` is the organization name in backends without organizations.
    return () if stack is None else (stack, f"organization/{_NAMESPACE}/{stack}")


def _own_network(network: StackNetwork) -> Problem:
    return Problem(
        path=f"{ROOT}.network.stack",
        problem="is the stack itself, which cannot take its network from its own outputs",
        found=network.stack,
        allowed="the name of another stack, one of `architecture.kind: network`",
        remedy=(
            "name a stack of `architecture.kind: network`, such as vpc-multi-az, or create a VPC "
            "here with `kind: new-vpc`"
        ),
    )


def stray_keys(names: Iterable[str]) -> list[str]:
    """Return the keys in the program's namespace that the program does not read."""
    return [name for name in names if name.startswith(f"{_NAMESPACE}:") and name != ROOT]


def _stray(key: str, stack_file: str) -> Problem:
    name = key.removeprefix(f"{_NAMESPACE}:")
    path = printable(f"{_NAMESPACE}:{name}")
    return Problem(
        path=path,
        problem=(
            f"is not read: the program reads only `{ROOT}`; this happens when `--path` is forgotten"
        ),
        allowed=ROOT,
        remedy=(
            f"{_remove_stray(path, stack_file)}, and set the value with "
            f"{set_command(f'{ROOT}.KEY', 'VALUE', stack_file=stack_file)}"
        ),
    )


def _remove_stray(path: str, stack_file: str) -> str:
    # Without `--path`, as the key was set.
    return remove_command(path, stack_file=stack_file).replace(" --path ", " ")


def _encrypted() -> Problem:
    return Problem(
        path=ROOT,
        problem=(
            "has an encrypted value, which the program would write in plain text into names, "
            "tags, outputs and state"
        ),
        allowed="values that everyone with access to the account may read",
        remedy=(
            "set it again without `--secret`; keep secrets in AWS Secrets Manager or Parameter "
            "Store, and let nodes and jobs read them there"
        ),
    )


def _no_object(raw: object, stack_file: str) -> Problem:
    if raw is None:
        return Problem(
            path=ROOT,
            problem="is missing: the stack file does not configure a cluster",
            allowed="a mapping with name, network, reservations and architecture",
            remedy=f"copy Pulumi.p5-cb.yaml to {stack_file} and edit it",
        )
    return Problem(
        path=ROOT,
        problem="is not a mapping of keys to values",
        found=raw,
        allowed="a mapping with name, network, reservations and architecture",
        remedy=(
            f"{remove_command(ROOT, stack_file=stack_file)}, and write the mapping into "
            f"{stack_file}"
        ),
    )


def _too_much(raw: Mapping[Any, Any], stack_file: str) -> Problem:
    return Problem(
        path=ROOT,
        problem="is nested too deeply, or has a number with too many digits",
        found=", ".join(sorted(map(str, raw))),
        allowed="a mapping with name, network, reservations and architecture",
        remedy=f"remove the deeply nested or very long value from {stack_file}",
    )


def _as_handed_on(value: Any) -> Any:
    """Return a value with mapping keys as sorted strings.

    Pulumi passes them in this order, independent of the file, and `check` must read the same
    configuration as `up`.
    """
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, Any]", value)
        plain = {_key(key): _as_handed_on(item) for key, item in entries.items()}
        return dict(sorted(plain.items()))
    if isinstance(value, list):
        return [_as_handed_on(item) for item in cast("list[Any]", value)]
    return value


def _kind(raw: Mapping[str, Any]) -> object:
    architecture: object = raw.get("architecture")
    if isinstance(architecture, Mapping):
        return cast("Mapping[str, object]", architecture).get("kind")
    return None


def _key(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, default=_text).strip('"')


def _text(value: object) -> str:
    """Return values that JSON does not have, such as times, as strings."""
    return value.isoformat() if isinstance(value, date | datetime) else str(value)
