"""Functions of a template whose value depends on their arguments only.

Source:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Network
from itertools import islice
from typing import Any

from trainyard.importing.cloudformation.deferred import Deferred, deferred_in
from trainyard.importing.excess import ExcessError
from trainyard.stack_files.yaml_limits import LARGEST_BYTES

_MOST_BLOCKS = 256
"""https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-cidr.html"""


def _selected(argument: Any) -> Any:
    index, values = int(argument[0]), argument[1]
    if isinstance(values, str):
        values = values.split(",") if not isinstance(values, Deferred) else [values]
    whole = values[0]
    if len(values) == 1 and isinstance(whole, Deferred):
        # The list is not known, so it has as many entries as the template needs.
        return Deferred(f"{whole.removesuffix('}')}[{index}]}}", whole.why)
    return values[index]


def _split(argument: Any) -> Any:
    separator, text = argument
    return [text] if isinstance(text, Deferred) else text.split(separator)


def _blocks(argument: Any) -> Any:
    """Return the value of `Fn::Cidr`: equal parts of a CIDR block, by the number of host bits."""
    block, count, *bits = argument
    if isinstance(block, Deferred):
        return [block]
    network = IPv4Network(str(block))
    prefix = 32 - int(bits[0]) if bits else network.prefixlen
    if not 1 <= int(count) <= _MOST_BLOCKS:
        raise ValueError(count)
    return [str(each) for each in islice(network.subnets(new_prefix=prefix), int(count))]


OF_ARGUMENTS: Mapping[str, Callable[[Any], Any]] = {
    "Fn::Select": _selected,
    "Fn::Split": _split,
    "Fn::Cidr": _blocks,
    "Fn::Base64": lambda text: text,
}


def joined_text(parts: Iterable[Any]) -> str:
    """Return values as one text, which is deferred if one of them is."""
    listed: list[Any] = []
    texts: list[str] = []
    characters = 0
    for each in parts:
        listed.append(each)
        texts.append(value_text(each))
        characters += len(texts[-1])
        if characters > LARGEST_BYTES:
            raise ExcessError(f"makes a text of more than {LARGEST_BYTES} characters")
    text = "".join(texts)
    unknown = deferred_in(listed)
    return text if unknown is None else Deferred(text, unknown.why)


def value_text(value: Any) -> str:
    """Return a value as CloudFormation writes it into a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
