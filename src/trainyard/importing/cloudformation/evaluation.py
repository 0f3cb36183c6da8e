"""Compute the values of a template: parameters, mappings, conditions and functions.

What only AWS or a person knows stays in the value as text (`Deferred`), so that the rest can be
read. Every computed value keeps its place in the document.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from itertools import islice
from typing import Any, Self

from trainyard.importing.report import Reader
from trainyard.importing.source import ExcessError, Location, Node, child, plain
from trainyard.stack_files.yaml_limits import LARGEST_BYTES

_REFERENCE = re.compile(r"\$\{(?P<name>[\w:-]+)(?:\.[\w.]+)?\}")
"""The logical ids of a template have letters and digits, those of a live account also the
characters of the names of AWS Batch, and a colon."""


class Deferred(str):
    """A text with names in the places of values that are not known: `${Subnet}-a`.

    It has the form of a placeholder, so conversions treat it as one.
    """

    why: str
    """Why the value is not known, and what to do; empty for an object of the template."""

    def __new__(cls, text: str, why: str = "") -> Self:
        """Return a text with the reason why it is not known."""
        made = super().__new__(cls, text)
        made.why = why
        return made

    @property
    def names(self) -> Sequence[str]:
        """The objects of the template that the text names."""
        return [match["name"] for match in _REFERENCE.finditer(self)]

    @property
    def name(self) -> str:
        """The object of the template that is the value; empty if the value is not just that."""
        match = _REFERENCE.fullmatch(self)
        return match["name"] if match else ""


def deferred_in(value: Any) -> Deferred | None:
    """Return the first value in a plain value that is not known."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return next((found for each in value if (found := deferred_in(each)) is not None), None)
    return value if isinstance(value, Deferred) else None


IF, REF, GET_ATTRIBUTE = "Fn::If", "Ref", "Fn::GetAtt"


@dataclass(frozen=True, slots=True)
class Function:
    """A call of a function."""

    name: str
    """The name of the long form: `Ref`, `Fn::Sub`."""
    argument: Node
    at: Location
    """Place of the argument."""


def function_of(node: Node, at: Location) -> Function | None:
    """Return the function that computes a value, or None for a plain value."""
    if node.tag.startswith("!"):
        short = node.tag.removeprefix("!")
        name = short if short in (REF, "Condition") else f"Fn::{short}"
        return Function(name, Node(node.value, node.line), at)
    if isinstance(node.value, dict) and len(node.value) == 1:
        ((name, argument),) = node.value.items()
        if name == REF or name.startswith("Fn::"):
            return Function(name, argument, (*at, name))
    return None


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


_OF_ARGUMENTS: Mapping[str, Callable[[Any], Any]] = {
    "Fn::Select": _selected,
    "Fn::Split": _split,
    "Fn::Cidr": _blocks,
    "Fn::Base64": lambda text: text,
}


def _joined_text(parts: Iterable[Any]) -> str:
    """Return values as one text, which is deferred if one of them is."""
    listed: list[Any] = []
    texts: list[str] = []
    characters = 0
    for each in parts:
        listed.append(each)
        texts.append(_value_text(each))
        characters += len(texts[-1])
        if characters > LARGEST_BYTES:
            raise ExcessError(f"makes a text of more than {LARGEST_BYTES} characters")
    text = "".join(texts)
    unknown = deferred_in(listed)
    return text if unknown is None else Deferred(text, unknown.why)


def _value_text(value: Any) -> str:
    """Return a value as CloudFormation writes it into a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


_LIST_TYPES = ("List<", "CommaDelimitedList", "AWS::SSM::Parameter::Value<List<")
_IN_TEXT = re.compile(r"\$\{(?P<name>!?[^{}]+)\}")
_MOST_STEPS = 50_000
"""Maximum number of values that are computed: a template has at most 500 objects, see
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html"""
_DEEPEST = 50
"""Maximum nesting of functions and conditions, also through what they name."""
_NOT_FROM_LISTS = (
    "the zones of an account are not known without it: list them with `aws ec2 "
    "describe-availability-zones`, and set `availability_zones`"
)
_UNSET = "the template does not set it with these parameters"
_NO_REGION = "the region is not known: give it with `--region`"
_IN_ACCOUNT = "it is known in the account only: write the value"


@dataclass(frozen=True, slots=True)
class Given:
    """The value of a parameter in a parameter file."""

    name: str
    value: Any
    source: Reader
    """Its place in the file."""


@dataclass(slots=True, kw_only=True)
class Evaluation:
    """The values of one template."""

    root: Node
    given: Mapping[str, Given]
    """Values from parameter files, by parameter."""
    region: str
    stack_name: str
    guess: bool = False
    """Truth of comparisons with values that are not known."""
    has_guessed: bool = False
    """Whether there was one."""
    uses: dict[Location, dict[Location, None]] = field(
        default_factory=dict[Location, dict[Location, None]]
    )
    """Parameters, entries of mappings and conditions by the place of the value that they make."""
    decided: dict[Location, str] = field(default_factory=dict[Location, str])
    """Why a part of an `If` does not become a value, by its place."""
    _steps: int = 0
    _users: dict[Location, dict[Location, None]] = field(
        default_factory=dict[Location, dict[Location, None]]
    )
    _running: list[Location] = field(default_factory=list[Location])
    _truths: dict[str, bool] = field(default_factory=dict[str, bool])

    def value(self, node: Node, at: Location) -> Node | None:
        """Return a value with its functions computed; None for `AWS::NoValue`.

        Raises:
            ExcessError: the values of the template are too large, or refer to each other too often.
        """
        self._spend(node.line)
        function = function_of(node, at)
        if function is not None:
            return self._computed(function, node.line, at)
        if isinstance(node.value, dict):
            entries = ((key, self.value(each, (*at, key))) for key, each in node.value.items())
            return Node({key: each for key, each in entries if each is not None}, node.line, "", at)
        if isinstance(node.value, list):
            items = (self.value(each, (*at, index)) for index, each in enumerate(node.value))
            return Node([each for each in items if each is not None], node.line, "", at)
        return Node(node.value, node.line, "", at)

    def _spend(self, line: int, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise ExcessError(
                f"its functions make more than {_MOST_STEPS} values, the last one in line {line}"
            )
        if len(self._running) > _DEEPEST:
            raise ExcessError(
                f"has functions or conditions that are more than {_DEEPEST} levels deep in each "
                f"other, in line {line}"
            )

    def condition(self, name: str) -> bool:
        """Return whether a condition of the template is true."""
        at = ("Conditions", name)
        node = child(child(self.root, "Conditions"), name)
        self._use(at)
        if node is None or at in self._running:
            return False
        if name not in self._truths:
            self._running.append(at)
            try:
                self._truths[name] = self._is_true(node, at)
            finally:
                self._running.pop()
        for source in [*self.uses.get(at, ())]:
            self._use(source)
        return self._truths[name]

    def _computed(self, function: Function, line: int, at: Location) -> Node | None:
        self._running.append(at)
        try:
            if function.name == IF:
                return self._branch(function, line, at)
            value = self._result(function)
        finally:
            self._running.pop()
        if value is None:
            self.decided.setdefault(at, _UNSET)
            return None
        self._spend(line, _steps_of(value))
        return _node(value, line, at)

    def _result(self, function: Function) -> Any:
        """Return the plain value of a function; None for `AWS::NoValue`."""
        node = self.value(function.argument, function.at)
        argument = None if node is None else plain(node)
        compute = _FUNCTIONS.get(function.name)
        if compute is None:
            return Deferred(f"${{{function.name}}}", _unsupported(function.name))
        try:
            return compute(self, argument)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
            return Deferred(f"${{{function.name}}}", "its arguments are not those of the function")

    def _branch(self, function: Function, line: int, at: Location) -> Node | None:
        parts = function.argument.value
        if not isinstance(parts, list) or len(parts) != 3:
            return Node(
                Deferred("${Fn::If}", "an `If` has a condition and two values"), line, "", at
            )
        name = str(parts[0].value)
        chosen = 1 if self.condition(name) else 2
        truth = "true" if chosen == 1 else "false"
        self.decided[(*function.at, 0)] = f"it is {truth} with these parameters"
        self.decided[(*function.at, 3 - chosen)] = f"the condition `{name}` is {truth}"
        found = self.value(parts[chosen], (*function.at, chosen))
        if found is None:
            self.decided.setdefault(at, _UNSET)
        return None if found is None else Node(found.value, line, "", at)

    def _is_true(self, node: Node, at: Location) -> bool:
        self._spend(node.line)
        if isinstance(node.value, dict) and set(node.value) == {"Condition"}:
            return self.condition(str(node.value["Condition"].value))
        function = function_of(node, at)
        if function is None:
            return str(node.value).lower() == "true"
        if function.name == "Condition":
            return self.condition(str(function.argument.value))
        argument = function.argument
        if function.name == "Fn::Equals":
            found = self.value(argument, function.at)
            values = [] if found is None else plain(found)
            if deferred_in(values) is not None:
                self.has_guessed = True
                return self.guess
            texts = (
                {_value_text(each) for each in values} if isinstance(values, list) else {"", None}
            )
            return len(texts) == 1
        parts = argument.value if isinstance(argument.value, list) else []
        truths = [self._is_true(each, (*function.at, n)) for n, each in enumerate(parts)]
        if function.name == "Fn::Not":
            return not any(truths)
        return all(truths) if function.name == "Fn::And" else any(truths)

    def holds(self, name: str, at: Location) -> bool:
        """Return whether the condition of the object at a place is true."""
        self._running.append(at)
        try:
            return self.condition(name)
        finally:
            self._running.pop()

    def _use(self, source: Location) -> None:
        for at in self._running:
            self.uses.setdefault(at, {})[source] = None
            self._users.setdefault(source, {})[at] = None

    def users(self, source: Location) -> Iterator[Location]:
        """Yield the places of the values that a parameter, an entry or a condition makes."""
        return iter(self._users.get(source, ()))

    # The functions.

    def reference(self, name: Any) -> Any:
        """Return the value of `Ref`."""
        if not isinstance(name, str):
            raise TypeError
        if name.startswith("AWS::"):
            return self._pseudo(name)
        parameter = child(child(self.root, "Parameters"), name)
        if parameter is None:
            return Deferred(f"${{{name}}}")
        return self._parameter(name, parameter)

    def _pseudo(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return None
        partition = {"cn": "aws-cn", "us-gov": "aws-us-gov"}
        found = next((each for each in partition if self.region.startswith(f"{each}-")), "")
        known = {
            "AWS::StackName": self.stack_name,
            "AWS::Region": self.region,
            "AWS::Partition": partition.get(found, "aws"),
            "AWS::URLSuffix": "amazonaws.com.cn" if found == "cn" else "amazonaws.com",
        }
        why = _NO_REGION if name == "AWS::Region" else _IN_ACCOUNT
        return known.get(name) or Deferred(f"${{{name}}}", why)

    def _parameter(self, name: str, parameter: Node) -> Any:
        self._use(("Parameters", name))
        kind, default = child(parameter, "Type"), child(parameter, "Default")
        kind_text = "" if kind is None else str(kind.value)
        if name in self.given:
            value = self.given[name].value
        else:
            value = None if default is None else plain(default)
        if value is None:
            missing = Deferred(
                f"${{{name}}}",
                f"the parameter `{name}` has no value: give it with `--parameters FILE`",
            )
            return [missing] if isinstance(_typed("", kind_text), list) else missing
        if kind_text.startswith("AWS::SSM::Parameter::Value"):
            return Deferred(
                f"{{{{resolve:ssm:{value}}}}}", f"it is in the Parameter Store, in `{value}`"
            )
        return _typed(value, kind_text)

    def substituted(self, argument: Any) -> Any:
        """Return the value of `Fn::Sub`."""
        text, variables = (argument, {}) if isinstance(argument, str) else argument
        return _joined_text(self._parts(text, variables))

    def _parts(self, text: str, variables: Mapping[str, Any]) -> Iterator[Any]:
        end = 0
        for match in _IN_TEXT.finditer(text):
            yield text[end : match.start()]
            name, end = match["name"].strip(), match.end()
            if name.startswith("!"):
                yield f"${{{name[1:]}}}"
            elif name in variables:
                yield variables[name]
            elif "." in name:
                yield self.attribute(name)
            else:
                yield self.reference(name)
        yield text[end:]

    def joined(self, argument: Any) -> Any:
        """Return the value of `Fn::Join`."""
        separator, parts = argument
        if isinstance(parts, Deferred):
            return parts
        between = [each for part in parts for each in (separator, part)]
        return _joined_text(between[1:])

    def attribute(self, argument: Any) -> Any:
        """Return the value of `Fn::GetAtt`: of an object that AWS has not created."""
        name = argument if isinstance(argument, str) else ".".join(map(str, argument))
        resource, _, attribute = name.partition(".")
        at = ("Resources", resource, "Properties", attribute)
        node: Node | None = self.root
        for part in at:
            node = child(node, part)
        if attribute == "CidrBlock" and node is not None and at not in self._running:
            found = self.value(node, at)
            return None if found is None else plain(found)
        return Deferred(f"${{{name}}}")

    def entry(self, argument: Any) -> Any:
        """Return the value of `Fn::FindInMap`."""
        *names, options = argument if len(argument) == 4 else (*argument, {})
        at = ("Mappings", *map(str, names))
        node: Node | None = self.root
        for part in at:
            node = child(node, part)
        if node is not None:
            self._use(at)
            return plain(node)
        if "DefaultValue" in options:
            return options["DefaultValue"]
        unknown = deferred_in(names)
        why = unknown.why if unknown else f"the mapping has no entry `{'.'.join(at[1:])}`"
        return Deferred(f"${{{'.'.join(at[1:])}}}", why)

    def zones(self, region: Any) -> Any:
        """Return the value of `Fn::GetAZs`, which is known in the account only."""
        named = region if isinstance(region, str) and not isinstance(region, Deferred) else ""
        suffix = f" of {named or self.region}" if named or self.region else ""
        return [Deferred(f"${{zones{suffix}}}", _NOT_FROM_LISTS)]

    def imported(self, name: Any) -> Any:
        """Return the value of `Fn::ImportValue`, which another stack has."""
        return Deferred(
            f"${{{name}}}",
            f"another stack exports it: `aws cloudformation list-exports --query "
            f"\"Exports[?Name=='{name}'].Value\"` prints it; write it into the stack file, or "
            "import the template of that stack too, and name it in `network.stack`",
        )


def _unsupported(name: str) -> str:
    return (
        f"`{name}` is computed by AWS: import the template that `aws cloudformation get-template "
        "--template-stage Processed` prints, or write the value"
    )


_FUNCTIONS: Mapping[str, Callable[[Evaluation, Any], Any]] = {
    REF: Evaluation.reference,
    GET_ATTRIBUTE: Evaluation.attribute,
    "Fn::Sub": Evaluation.substituted,
    "Fn::Join": Evaluation.joined,
    "Fn::FindInMap": Evaluation.entry,
    "Fn::GetAZs": Evaluation.zones,
    "Fn::ImportValue": Evaluation.imported,
    **{name: lambda _, argument, of=of: of(argument) for name, of in _OF_ARGUMENTS.items()},
}


def _steps_of(value: Any) -> int:
    """Return the number of values in a plain value; each 200 characters of a text are one."""
    if isinstance(value, dict):
        return 1 + sum(map(_steps_of, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(_steps_of, value))
    return 1 + (len(value) // 200 if isinstance(value, str) else 0)


def _node(value: Any, line: int, at: Location) -> Node:
    if isinstance(value, dict):
        return Node({key: _node(each, line, at) for key, each in value.items()}, line, "", at)
    if isinstance(value, list):
        return Node([_node(each, line, at) for each in value], line, "", at)
    return Node(value, line, "", at)


def _typed(value: Any, kind: str) -> Any:
    """Return the value of a parameter as its type: a list, or the value itself."""
    if not kind.startswith(_LIST_TYPES):
        return value
    parts: Sequence[Any] = value if isinstance(value, list) else str(value).split(",")
    return [str(part).strip() for part in parts]
