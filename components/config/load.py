"""Load and validate a stack's configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from trainyard.components.config.network import (
    ExistingVpc,
    PlacedNetwork,
    StackNetwork,
    unread_network,
)
from trainyard.components.config.node_pool import BlockPools
from trainyard.components.config.problems import (
    ROOT,
    Assumed,
    ConfigError,
    Problem,
    Review,
    remove_command,
    set_command,
    show,
    stack_of,
)
from trainyard.components.config.stack import StackConfig
from trainyard.components.config.stack_models import given_model, models_of
from trainyard.components.plain_text import printable

if TYPE_CHECKING:
    from trainyard.components.config.stack_models import AnyStackConfig


def narrowed(config: StackConfig, network: PlacedNetwork) -> AnyStackConfig:
    """Return a validated configuration with the type of its architecture.

    `network` is that of the configuration, or the resolved network of another stack.
    """
    fields = {name: getattr(config, name) for name in type(config).model_fields}
    given = config.network
    fields |= {
        "network": network,
        "network_stack": given.stack if isinstance(given, StackNetwork) else None,
    }
    models = models_of(config.architecture.kind)
    assert models is not None  # noqa: S101 - the kind is validated
    return models[1].model_construct(config.model_fields_set, **fields)


# Values that YAML reads as something other than the text in the stack file.
#
# Without quotes, `010` is the number 8, `1.30` is 1.3, `True` is true, and `2026-12-01` is a time.
# In a field of text, such as a tag, the value would be another one than what was written.
#
# Source: https://github.com/go-yaml/yaml/blob/v3.0.1/resolve.go, the decoder of the Pulumi engine


# `time.Time.String` of Go, which is how Pulumi hands on a time:
# https://pkg.go.dev/time#Time.String
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4} \S+", re.ASCII)
_Location = tuple[str | int, ...]


def misread(raw: Any, written: tuple[Any, Any] | None) -> list[Problem]:
    """Return a problem for each text that YAML reads as another value.

    Args:
        raw: The configuration.
        written: The configuration in the stack file, and the same with every scalar as the text
            in the file; None if only `raw` is known.
    """
    read, texts = written or (raw, None)
    return [found for each in _changed(read, texts, ()) if (found := _explain(raw, *each))]


_Changed = Iterator[tuple[_Location, Any, str | None]]
"""Location, value and text of scalars."""


def _changed(value: Any, text: Any, at: _Location) -> _Changed:
    """Yield the scalars that YAML changed; the text is None if it is not known."""
    if isinstance(value, Mapping):
        yield from _in_mapping(cast("Mapping[Any, Any]", value), text, at)
    elif isinstance(value, list):
        entries = cast("list[Any]", value)
        for index, (entry, inner) in enumerate(
            zip(entries, _same_size(text, entries), strict=True)
        ):
            yield from _changed(entry, inner, (*at, index))
    elif isinstance(value, str):
        if _TIME.fullmatch(value):
            yield at, value, text if text != value else None
    elif value is not None and isinstance(text, str) and text != _plain(value):
        yield at, value, text


def _in_mapping(entries: Mapping[Any, Any], texts: Any, at: _Location) -> _Changed:
    keys = list(entries)
    for key, written in zip(keys, _same_size(texts, keys), strict=True):
        if written is not None and written != _plain(key):
            yield (*at, "[key]"), key, written
        inner = None if written is None else texts[written]
        yield from _changed(entries[key], inner, (*at, _plain(key)))


def _same_size(texts: Any, entries: Sequence[Any]) -> list[Any]:
    """Return the texts of entries; nothing is known of a mapping that is made with a merge key."""
    known = isinstance(texts, list | Mapping) and len(cast("Any", texts)) == len(entries)
    return list(cast("Any", texts)) if known else [None] * len(entries)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _explain(raw: Any, at: _Location, value: Any, text: str | None) -> Problem | None:
    # Only a file with such a value needs the models of every architecture.
    from trainyard.components.config.given_stack import GivenStack
    from trainyard.components.config.keys import path_of, place_at

    is_key = at[-1:] == ("[key]",)
    place = None if is_key else place_at(GivenStack, raw, at)
    if not is_key and (place is None or not place.is_text):
        return _misread_number(path_of(at), value, text)
    quoted = f'"{text}"' if text is not None else "the text"
    return Problem(
        path=path_of((*at[:-1], _plain(value)) if is_key else at),
        problem=(
            f"{'is a key' if is_key else 'must be text'}; without quotes, YAML reads it as "
            f"{_kind_of_value(value)} {show(value)}"
        ),
        found=text if text is not None else value,
        allowed="text in quotes",
        remedy=f"write it in quotes in the stack file: {quoted}",
    )


_ODD_NUMBERS = (
    (re.compile(r"[-+]?0o?[0-7_]+"), "the octal number"),
    (re.compile(r"[-+]?0x[0-9a-fA-F_]+"), "the hexadecimal number"),
    (re.compile(r"[-+]?0b[01_]+"), "the binary number"),
    (re.compile(r"[-+]?0\d[\d_]*"), "the decimal number"),
    (re.compile(r"[-+]?\d[\d_]*_[\d_]*(?:\.\d*)?"), "the number"),
)
"""Spellings of numbers of which readers of YAML make different ones, or a text, by the first that
matches: https://yaml.org/type/int.html (1.1) and https://yaml.org/spec/1.2.2/#10214-integer"""


def _misread_number(path: str, value: object, text: str | None) -> Problem | None:
    """Return the problem of a number in a spelling that means another one, or text, elsewhere."""
    if isinstance(value, bool) or not isinstance(value, int | float) or text is None:
        return None
    kind = next((kind for spelling, kind in _ODD_NUMBERS if spelling.fullmatch(text)), None)
    if kind is None or text == "0":
        return None
    digits = text.replace("_", "").lstrip("+-0")
    meant = digits if re.fullmatch(r"\d+", digits, re.ASCII) and text[:1] not in "-" else ""
    other = f"{meant}, or {show(value)}" if meant and meant != str(value) else show(value)
    return Problem(
        path=path,
        problem=f"is a spelling that YAML reads as {kind} {show(value)}, and other readers of YAML "
        "as another one or as text",
        found=text,
        allowed="a decimal number without leading zeros, prefixes and underscores",
        remedy=f"write {other}",
    )


def _kind_of_value(value: object) -> str:
    if isinstance(value, bool):
        return "the boolean"
    return "the time" if isinstance(value, str) else "the number"


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
        further, assumed = _assumed(error, json.loads(text), stack_file)
        problems = [*problems, *found, *further]
        raise ConfigError(problems, stack_file=stack_file, assumed=assumed) from error
    if problems:
        raise ConfigError(problems, stack_file=stack_file)
    config = _in_every_block(config, stack_file)
    network = config.network
    if not isinstance(network, StackNetwork):
        return narrowed(config, network)
    if network.stack in _own_names(stack_file):
        raise ConfigError([_own_network(network)], stack_file=stack_file)
    return narrowed(config, network_of(network))


def _assumed(
    error: ValidationError, raw: Any, stack_file: str
) -> tuple[list[Problem], Assumed | None]:
    """Return further problems of the schema, or the configuration without its problems."""
    from trainyard.components.config.explain import assume, explain

    assumption = assume(error.errors(include_url=False), raw, stack_file=stack_file)
    if assumption is None:
        return [], None
    changed, paths, examples = assumption
    try:
        config = given_model(_kind(changed)).model_validate_json(json.dumps(changed))
        config = _in_every_block(config, stack_file)
        network = config.network
        if isinstance(network, StackNetwork):
            network = unread_network(network)
        config = narrowed(config, network)
    except ValidationError as refused:
        found = explain(refused.errors(include_url=False), changed, stack_file=stack_file)
        return [each for each in found if not each.path.startswith(tuple(paths))], None
    except ConfigError as refused:
        return [*refused.problems], None
    return [], Assumed(config=config, paths=tuple(paths), examples=tuple(examples))


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
