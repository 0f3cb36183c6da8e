"""Base model and the field types that every part of the configuration shares."""

from __future__ import annotations

import ast
import inspect
import ipaddress
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION

# Docstrings of model fields, read from the source on demand.
#
# Only error messages and generated documents need them. Pydantic can read them too
# (`use_attribute_docstrings`), but does so at class creation, which takes a third of the time of
# `check`:
# https://docs.pydantic.dev/latest/api/config/#pydantic.config.ConfigDict.use_attribute_docstrings


@cache
def field_docs(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the field docstrings of a model, by field name.

    A field that a subclass redeclares does not inherit the docstring of its base.
    """
    docs: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            docs = {
                name: text
                for name, text in docs.items()
                if name not in inspect.get_annotations(base)
            }
            docs |= _classes(base.__module__).get(base.__qualname__, {})
    # Documented class variables and type hints are not fields.
    return {name: text for name, text in docs.items() if name in model.model_fields}


@cache
def _classes(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the field docstrings of every class of a module, by class name."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        statement.name: dict(_documented(statement))
        for statement in tree.body
        if isinstance(statement, ast.ClassDef)
    }


def _documented(definition: ast.ClassDef) -> list[tuple[str, str]]:
    return [
        (field.target.id, inspect.cleandoc(below.value.value))
        for field, below in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    ]


# Base model and the field types that every part of the configuration shares.
#
# The error message of a field type with a form (`ReservationId`, `SubnetId` ...) gives the expected
# value and an example. The message of a plain `pattern` would only repeat the regular expression.


class StrictModel(BaseModel):
    """A configuration model: unknown keys are errors, text is never read as a number.

    Modules of models have no `from __future__ import annotations`: it turns the types of fields
    into strings, which pydantic would compile one by one. That takes a sixtieth of the time of
    `check`.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        validate_default=True,
        # Build one validator for the stack that is checked, not one for each model of the schema.
        defer_build=True,
    )

    @classmethod
    def defaults(cls) -> Self:
        """Return the model with every field at its default, for use as the default of a field.

        Calling the class would build a validator that is not needed otherwise.
        """
        return cls.model_construct()

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Show editors the docstring of each field."""
        shown = handler(schema)
        fields = handler.resolve_ref_schema(shown)["properties"]
        for name, text in field_docs(cls).items():
            effective = effective_with(cls.model_fields[name])
            fields[name]["description"] = f"{text} {effective}." if effective else text
        return shown


@dataclass(frozen=True, slots=True)
class Switch:
    """A key that decides whether another one has an effect."""

    key: str
    """Key of the same section, or, after `/`, a key relative to `trainyard:cluster`."""
    values: tuple[Any, ...] = ()
    """Values that it must have; empty if it must be set, and be neither false nor empty."""

    def __str__(self) -> str:
        """Return the key and its values, as in a stack file."""
        given = [each for each in self.values if each is not None]
        without = f"no `{self.key.lstrip('/')}`" if None in self.values else ""
        said = " or ".join(f"`{self.key.lstrip('/')}: {_word(each)}`" for each in given)
        if not self.values:
            return f"`{self.key.lstrip('/')}`"
        return " or ".join(filter(None, [without, said]))


@dataclass(frozen=True, slots=True)
class EffectiveWith:
    """Metadata of a field that has no effect without another key.

    `review_effect` in `stack_review` refuses a value where no switch is on.
    """

    switches: tuple[Switch, ...]
    """One of them must be on."""
    why: str
    """What happens to the value otherwise, for the message."""
    harmless: tuple[Any, ...] = ()
    """Values that ask for nothing, and are accepted without a switch."""

    def __str__(self) -> str:
        """Return when the field has an effect, for the reference."""
        return f"Has an effect only with {' or '.join(map(str, self.switches))}"


def effective_with(field: FieldInfo) -> EffectiveWith | None:
    """Return when a field has an effect; None for always."""
    return next((each for each in field.metadata if isinstance(each, EffectiveWith)), None)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Form:
    """Metadata of a text field that must have a certain form.

    The error that it raises (type `form`) carries the expectation and an example, from which
    `trainyard.components.config.load` makes a problem with its remedy.
    """

    pattern: str
    """Regular expression; the whole text must match it."""
    expected: str
    """The form in words, for people."""
    example: str
    lines: bool = False
    """Whether the text may have several lines."""
    names: str = ""
    """Kind of the AWS object that it names: a key of `OBJECT_KINDS` in `named/checks.py`."""
    where: str = ""
    """What to give where an example would mislead: the value, and the command that prints it."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Check the form after pydantic has made sure that the value is text."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Show editors the pattern and the example."""
        whole = f"(?:{self.pattern})" if "|" in self.pattern else self.pattern
        return {**handler(schema), "pattern": f"^{whole}$", "examples": [self.example]}

    def _check(self, value: str) -> str:
        # The pattern matches ASCII digits and letters only, and no invisible characters are
        # allowed.
        line = value.replace("\n", "") if self.lines else value
        if not line.isprintable() or re.fullmatch(self.pattern, value, re.ASCII) is None:
            raise PydanticCustomError(
                "form",
                "is not {expected}",
                {"expected": self.expected, "example": self.example, "where": self.where},
            )
        return value


def resource_id(prefix: str, noun: str) -> Form:
    """Return the form of an id of EC2, such as `vpc-0123456789abcdef0` for `vpc`."""
    # EC2 ids are a prefix and 17 hexadecimal digits; VPCs, subnets and AMIs made before 2018
    # may still have 8: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html
    return Form(
        pattern=rf"{prefix}-(?:[0-9a-f]{{8}}|[0-9a-f]{{17}})",
        expected=f"the id of {noun}: `{prefix}-` and 17 (or 8) hexadecimal digits",
        example=f"{prefix}-0123456789abcdef0",
    )


ReservationId = Annotated[
    str,
    Form(
        pattern=r"cr-[0-9a-f]{17}",
        expected="the id of a capacity reservation: `cr-` and 17 hexadecimal digits",
        example="cr-0123456789abcdef0",
    ),
]
AmiId = Annotated[
    str,
    Form(
        pattern=r"ami-(?:[0-9a-f]{8}|[0-9a-f]{17})",
        expected="the id of an AMI: `ami-` and 17 (or 8) hexadecimal digits",
        example="ami-0123456789abcdef0",
    ),
]
VpcId = Annotated[str, resource_id("vpc", "a VPC")]
SubnetId = Annotated[str, resource_id("subnet", "a subnet")]

# Zones: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-regions-availability-zones.html
Zone = Annotated[
    str,
    Form(
        # Local Zones carry their city: `us-west-2-lax-1a`, `usw2-lax1-az1`.
        pattern=(
            r"[a-z]{2,4}(?:-[a-z]+)+-\d(?:-[a-z]{3}-\d)?[a-z]"
            r"|[a-z]{2,8}\d(?:-[a-z]{3}\d)?-az\d"
        ),
        expected="a zone by name (`us-west-2b`) or by zone id (`usw2-az2`)",
        example="us-west-2b",
    ),
]
InstanceTypeName = Annotated[
    str,
    Form(
        pattern=r"[a-z][a-z0-9-]*\.[a-z0-9-]+",
        expected="an EC2 instance type",
        example="p5.48xlarge",
    ),
]
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html, parameter `name`
ClusterName = Annotated[
    str,
    Form(
        pattern=r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}",
        expected=(
            "a name of at most 100 letters, digits, hyphens and underscores that begins with a "
            "letter or a digit"
        ),
        example="p5-cb",
    ),
]
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html, `nodegroupName`
NodePoolName = Annotated[
    str,
    Form(
        pattern=r"[0-9A-Za-z][A-Za-z0-9_-]{0,62}",
        expected=(
            "a name of at most 63 letters, digits, hyphens and underscores that begins with a "
            "letter or a digit"
        ),
        example="p5",
    ),
]
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreatePlacementGroup.html: up to 255
# ASCII characters.
PlacementGroupName = Annotated[
    str,
    Form(
        pattern=r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?",
        expected="the name of a placement group: at most 255 ASCII characters",
        example="training-group",
        names="placement-group",
    ),
]
# Parts of an ARN: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
ARN_PARTITION = r"aws(?:-[a-z]{1,10}){0,2}"
ARN_REGION = r"(?:eusc-)?[a-z]{2}(?:-[a-z]{1,20}){1,2}-\d"
# https://docs.aws.amazon.com/kms/latest/developerguide/concepts-key-id.html: no alias, because EKS
# and FSx require the ARN of the key. `mrk-` begins the id of a multi-Region key.
KmsKeyArn = Annotated[
    str,
    Form(
        pattern=(
            rf"arn:{ARN_PARTITION}:kms:{ARN_REGION}:\d{{12}}:key/"
            r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32})"
        ),
        expected=(
            "the ARN of a KMS key, with the key id (a UUID, or `mrk-` and 32 hexadecimal digits)"
        ),
        example="arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        names="kms-key",
        where="the ARN that `aws kms describe-key --key-id alias/NAME` prints",
    ),
]
KubernetesVersion = Annotated[
    str,
    Form(
        pattern=r"1\.\d{2}",
        expected="a Kubernetes minor version in quotes",
        example=DEFAULT_KUBERNETES_VERSION,
    ),
]


def _ipv4_cidr(example: str) -> AfterValidator:
    def check(value: str) -> str:
        fault = _cidr_fault(value)
        if fault is not None:
            expected = f"an IPv4 network in CIDR notation ({fault})"
            raise PydanticCustomError(
                "form", "is not {expected}", {"expected": expected, "example": example}
            )
        return value

    return AfterValidator(check)


def _cidr_fault(value: str) -> str | None:
    """Return why AWS would not accept a network, or None.

    Python also accepts a single address and a mask in the form of an address.
    """
    try:
        ipaddress.IPv4Network(value)
    except ValueError as error:
        return str(error)
    if value.partition("/")[2].isdecimal():
        return None
    return f"{value!r} has no prefix length, such as /32 for a single address"


Ipv4Cidr = Annotated[str, _ipv4_cidr("10.0.0.0/16")]
ClientCidr = Annotated[str, _ipv4_cidr("203.0.113.0/24")]
"""A network of clients on the internet; the example is of
https://www.rfc-editor.org/rfc/rfc5737#section-3."""


def _time(value: Any) -> Any:
    # YAML reads an unquoted time as a timestamp, and Pulumi passes it in the format of Go:
    # `2026-12-01 11:30:00 +0000 UTC`.
    if not isinstance(value, str):
        return value
    printed = re.fullmatch(
        r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) ([+-]\d\d)(\d\d) \S+", value
    )
    text = "{}T{}{}:{}".format(*printed.groups()) if printed else value
    try:
        # Parsed here, because strict mode accepts no string from a validator function.
        return datetime.fromisoformat(text)
    except ValueError:
        return value


UtcTime = Annotated[AwareDatetime, BeforeValidator(_time, json_schema_input_type=AwareDatetime)]
"""A time with its UTC offset (RFC 3339), such as `2026-12-01T11:30:00Z`."""


def is_zone_id(zone: str) -> bool:
    """Return whether a zone is given by id (`usw2-az2`), which is the same in every account."""
    return "-az" in zone


def same_kind_of_zone(one: str, other: str) -> bool:
    """Return whether two zones are both names or both ids, so that they can be compared.

    The same name can be a different zone id in each account.
    """
    return is_zone_id(one) == is_zone_id(other)


def _text(value: Any) -> Any:
    # `pulumi config set --path` types what looks like a number or a boolean; a tag or a label
    # is always text, and AWS and Kubernetes spell it `true`.
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else value


def _without_controls(value: str) -> str:
    if not value.replace("\n", "").replace("\t", "").isprintable():
        raise PydanticCustomError(
            "form", "is not {expected}", {"expected": "printable text", "example": "text"}
        )
    return value


def _one_line(value: str) -> str:
    if not value.isprintable():
        raise PydanticCustomError(
            "form",
            "is not {expected}",
            {"expected": "one line of printable text", "example": "text"},
        )
    return value


_Given = BeforeValidator(_text, json_schema_input_type=str | int | bool)
Text = Annotated[str, _Given, AfterValidator(_without_controls)]
"""Any text. Invisible characters other than white space are a mistake or an attack."""
Line = Annotated[str, _Given, AfterValidator(_one_line)]
"""One line of any text, for values that are written into one line of a file."""


TagKey = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_one_line)]
"""Key of a tag.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions
"""
