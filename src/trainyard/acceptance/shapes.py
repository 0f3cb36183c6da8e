"""The shapes of AWS's answers: which keys they have, and what the values look like.

A table has no answer. For each state of an object (`CREATING`, `scheduled`) it has the share of
objects with each key, the types, and the patterns of the values (`pattern_of`). Values themselves
are only those that the API model enumerates.

`public` shapes are those of an account that is not public: a name in an ARN, an id or a state that
somebody can have chosen is left out of them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

import botocore.session

STATE_KEYS = (
    "status", "Status", "State", "state", "StackStatus", "Lifecycle", "LifeCycleState", "KeyState",
)  # fmt: skip
"""Keys with the state of an object; Batch has `status` for what its `state` leads to."""
ITEM = re.compile(r"\w*(\[\])?|Reservations\[\]\.Instances\[\]")
"""Paths of the objects that an answer is about. Their state decides which keys they have."""
MOST_VALUES = 12
"""Enumerated values that a table names, of types of instances for example."""
PATTERNS = (
    ("empty", re.compile(r"")),
    ("uuid", re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)),
    ("time", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d.*")),
    ("date", re.compile(r"\d{4}-\d\d-\d\d")),
    ("account", re.compile(r"\d{12}")),
    ("number", re.compile(r"-?\d+(\.\d+)?")),
    ("network", re.compile(r"\d+(\.\d+){3}/\d+|[0-9a-f:]*::/\d+")),
    ("address", re.compile(r"\d+(\.\d+){3}")),
    ("zone", re.compile(r"[a-z]{2}(-[a-z]+)+-\d[a-z]")),
    ("zone id", re.compile(r"[a-z]{3,4}\d-az\d")),
    ("region", re.compile(r"[a-z]{2}(-[a-z]+)+-\d")),
    ("url", re.compile(r"https?://\S+")),
    ("boolean", re.compile(r"true|false", re.IGNORECASE)),
)
_ARN = re.compile(r"arn:aws[a-z-]*:([a-z0-9-]+):[^:]*:[^:]*:(?:([a-zA-Z-]+)[/:])?.*", re.DOTALL)
_ID = re.compile(r"([a-z]+(?:-[a-z]+)*)-(?:[0-9a-f]{8}|[0-9a-f]{17})")
UNLISTED = "unlisted"
"""The state of objects in a state that the API model does not list, in public shapes."""
ID_KINDS = frozenset(
    {
        *("acl", "aclassoc", "aki", "ami", "backup", "cb", "cgw", "cr", "dopt", "eipalloc"),
        *("eipassoc", "ela-attach", "eni", "eni-attach", "fl", "fs", "fsap", "fsmt", "fsvol"),
        *("fsvolsnap", "i", "igw", "iip-assoc", "key", "lt", "nat", "pb", "pcx", "pl", "r", "rtb"),
        *("rtbassoc", "sg", "sgr", "sir", "snap", "subnet", "subnet-cidr-assoc", "svm", "vgw"),
        *("vol", "vpc", "vpc-cidr-assoc", "vpce"),
    }
)
"""Beginnings of the ids that AWS gives: in the API models of botocore, and in recorded answers."""
ARN_KINDS: Mapping[str, frozenset[str]] = {
    service: frozenset(kinds.split())
    for service, kinds in {
        "aps": "rulegroupsnamespace scraper workspace",
        "autoscaling": "autoScalingGroup launchConfiguration scheduledUpdateGroupAction",
        "batch": "compute-environment job-definition job-queue",
        "bedrock": "model-invocation-job",
        "cloudformation": "changeSet stack",
        "cloudwatch": "alarm dashboard",
        "dynamodb": "",
        "ec2": (
            "capacity-block capacity-reservation elastic-ip image instance internet-gateway "
            "key-pair launch-template natgateway network-acl network-interface placement-group "
            "route-table security-group security-group-rule snapshot subnet volume vpc "
            "vpc-endpoint vpc-flow-log"
        ),
        "ecr": "repository",
        "ecs": "cluster container-instance",
        "eks": "access-entry addon cluster nodegroup podidentityassociation",
        "elasticfilesystem": "file-system",
        "elasticloadbalancing": "listener listener-rule loadbalancer targetgroup",
        "events": "rule",
        "fsx": "backup file-system volume",
        "iam": "instance-profile oidc-provider policy role user",
        "kms": "alias key",
        "lambda": "function layer runtime",
        "logs": "log-group",
        "ram": "resource-share resource-share-invitation",
        "resource-groups": "group",
        "s3": "",
        "scheduler": "schedule",
        "secretsmanager": "secret",
        "servicequotas": "",
        "sns": "",
        "ssm": "document parameter",
        "sts": "assumed-role",
    }.items()
}
"""Services and types in ARNs that AWS has named. ARNs of S3, SNS and Service Quotas have no type:
what follows the account is a name.
https://docs.aws.amazon.com/service-authorization/latest/reference/"""


def public_pattern_of(value: str) -> str:
    """Return what a text looks like, without a word that a user can have chosen."""
    kind, _, named = (pattern := pattern_of(value)).partition(" ")
    if kind == "arn":
        service, _, resource = named.partition(" ")
        if service not in ARN_KINDS:
            return "text"
        return pattern if resource in ARN_KINDS[service] else f"arn {service}"
    return "text" if kind == "id" and named not in ID_KINDS else pattern


def pattern_of(value: str) -> str:
    """Return what a text looks like: `arn ec2 subnet`, `id vpc`, `time`; `text` if nothing fits."""
    if arn := _ARN.fullmatch(value):
        return f"arn {arn[1]} {arn[2] or ''}".rstrip()
    if identity := _ID.fullmatch(value):
        return f"id {identity[1]}"
    return next((name for name, form in PATTERNS if form.fullmatch(value)), "text")


def type_of(value: Any, shape: Any) -> str:
    """Return the type of a value; times are texts in some recordings."""
    if isinstance(value, dict) and getattr(shape, "type_name", "") == "string":
        return "string"  # a document that boto3 has parsed
    if isinstance(value, datetime) or getattr(shape, "type_name", "") == "timestamp":
        return "time"
    names = {bool: "boolean", int: "number", float: "number", str: "string"}
    names |= {list: "list", dict: "object"}
    return next((name for kind, name in names.items() if type(value) is kind), "other")


@dataclass(slots=True)
class Fact:
    """What is known about a key of objects in one state."""

    have: int = 0
    of: int = 0
    types: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    since: int | None = None
    """All objects recorded from this year on have the key."""

    @property
    def always(self) -> bool:
        """Whether all objects have the key, or all recorded since AWS introduced it."""
        return self.have == self.of or self.since is not None

    def as_json(self) -> dict[str, Any]:
        """Return the fact without what is empty."""
        kinds = {"types": self.types, "patterns": self.patterns, "values": self.values}
        return {
            "share": f"{self.have}/{self.of}",
            **({"since": self.since} if self.since else {}),
            **{name: sorted(each) for name, each in kinds.items() if each},
        }

    @classmethod
    def of_json(cls, written: Mapping[str, Any]) -> Fact:
        """Return the fact that `as_json` returned."""
        have, _, of = written["share"].partition("/")
        types, patterns, values = (
            set(written.get(name, ())) for name in ("types", "patterns", "values")
        )
        return cls(int(have), int(of), types, patterns, values, written.get("since"))


@dataclass(slots=True)
class Tally:
    """What was seen at a key of objects in one state."""

    have: int = 0
    """Objects with the key."""
    types: set[str] = field(default_factory=set)
    patterns: Counter[str] = field(default_factory=Counter)
    """How many texts have each pattern."""
    values: set[str] = field(default_factory=set)

    def see(self, value: Any, shape: Any, *, public: bool = False) -> None:
        """Add the value of one more object.

        Args:
            value: The value.
            shape: Its shape in the API model.
            public: Whether values that the model does not list are left out.
        """
        self.have += 1
        self.types.add(type_of(value, shape))
        for leaf, inner in leaves(value, shape):
            listed = getattr(inner, "enum", None)
            if listed and (leaf in listed or not public):
                self.values.add(str(leaf))
            elif isinstance(leaf, str) and type_of(leaf, inner) == "string":
                self.patterns[public_pattern_of(leaf) if public else pattern_of(leaf)] += 1

    def add(self, other: Tally) -> None:
        """Add what was seen at the same key of other objects."""
        self.have += other.have
        self.types |= other.types
        self.patterns += other.patterns
        self.values |= other.values

    def fact(self, objects: int, *, rare: float = 0.0) -> Fact:
        """Return the fact about a number of objects.

        Args:
            objects: How many there were, with the key and without it.
            rare: Share below which a pattern is left out.
        """
        fewest = self.patterns.total() * rare
        patterns = {pattern for pattern, count in self.patterns.items() if count >= fewest}
        return Fact(
            have=self.have,
            of=objects,
            types=set(self.types),
            patterns={"text"} if "text" in patterns else patterns,
            values=set(self.values) if len(self.values) <= MOST_VALUES else set(),
        )


States = dict[str, dict[str, Fact]]
"""Facts by state and path. Objects without a state have the empty one."""


@dataclass(slots=True)
class Table:
    """The facts about the answers to one operation."""

    operation: str
    """`eks.DescribeCluster`."""
    evidence: str
    """`recordings` of real accounts, the weaker `examples` of documentation, or `emulator`: answers
    of something in AWS's place, which prove nothing about AWS."""
    sources: list[dict[str, Any]]
    states: States

    def text(self) -> str:
        """Return the text of the file, with one key path on each line."""
        head = {"operation": self.operation, "evidence": self.evidence, "sources": self.sources}
        lines = [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
        states = []
        for state, facts in sorted(self.states.items()):
            rows = ",\n".join(
                f"{json.dumps(path)}: {json.dumps(fact.as_json(), separators=(',', ':'))}"
                for path, fact in sorted(facts.items())
            )
            states.append(f"{json.dumps(state)}: {{\n{rows}\n}}")
        return "\n".join(["{", *lines, '"states": {', ",\n".join(states), "}", "}", ""])


def table_of(written: Mapping[str, Any]) -> Table:
    """Return the table that `Table.text` wrote, from its JSON."""
    states = {
        state: {path: Fact.of_json(fact) for path, fact in facts.items()}
        for state, facts in written["states"].items()
    }
    return Table(written["operation"], written["evidence"], written["sources"], states)


@dataclass(slots=True)
class Node:
    """One structure of an answer."""

    state: str
    path: str
    values: dict[str, tuple[Any, Any]]
    """Values with their shape, by key."""


@cache
def shape_of(operation: str) -> Any:
    """Return the shape of the answers to an operation, such as `ec2.DescribeVpcs`."""
    service, _, name = operation.partition(".")
    return model_of(service).operation_model(name).output_shape


@cache
def model_of(service: str) -> Any:
    """Return the API model of a service."""
    return botocore.session.get_session().get_service_model(service)


def state_of(values: Mapping[str, Any]) -> str:
    """Return the state of an object; empty if it has none."""
    for key in STATE_KEYS:
        value = values.get(key)
        if isinstance(value, Mapping):
            value = value.get("Name") or value.get("Code")
        if value and isinstance(value, str):
            return value
    return ""


def public_state_of(values: Mapping[str, Any], shape: Any) -> str:
    """Return the state of an object if the API model lists it, else `UNLISTED`; empty without."""
    state = state_of(values)
    members = [shape.members[key] for key in STATE_KEYS if key in shape.members]
    # `{"Code": 16, "Name": "running"}`
    inner = [getattr(each, "members", {}).get(key) for each in members for key in ("Name", "Code")]
    listed = {value for each in (*members, *inner) for value in getattr(each, "enum", ())}
    return state if not state or state in listed else UNLISTED


def nodes(
    value: Any, shape: Any, path: str = "", state: str = "", *, public: bool = False
) -> Iterator[Node]:
    """Yield the structures of an answer, outermost first; those below have the state of the item.

    What the model does not have, such as `ResponseMetadata`, is left out.
    """
    kind = getattr(shape, "type_name", None)
    if kind == "structure" and isinstance(value, Mapping):
        if ITEM.fullmatch(path):
            state = (public_state_of(value, shape) if public else state_of(value)) or state
        known = {
            key: (inner, shape.members[key])
            for key, inner in value.items()
            if key in shape.members and inner is not None
        }
        yield Node(state, path, known)
        for key, (inner, below) in known.items():
            yield from nodes(inner, below, f"{path}.{key}".lstrip("."), state, public=public)
    elif kind == "list" and isinstance(value, list):
        for each in value:
            yield from nodes(each, shape.member, f"{path}[]", state, public=public)
    elif kind == "map" and isinstance(value, Mapping):
        for each in value.values():
            yield from nodes(each, shape.value, f"{path}.*", state, public=public)


def leaves(value: Any, shape: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a value that is no structure, or those in a list or mapping of them."""
    kind = getattr(shape, "type_name", None)
    if kind == "list" and isinstance(value, list):
        for each in value:
            yield from leaves(each, shape.member)
    elif kind == "map" and isinstance(value, Mapping):
        for each in value.values():
            yield from leaves(each, shape.value)
    elif kind != "structure":
        yield value, shape
