"""Expressions have the value that Terraform computes, or say that the files do not have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainyard.importing.source import Node, plain
from trainyard.importing.terraform.expressions import evaluate
from trainyard.importing.terraform.module import read_module
from trainyard.importing.terraform.values import is_unknown

FILES = """\
variable "given" { default = "a" }
variable "missing" {}
variable "secret" {
  default   = "hidden"
  sensitive = true
}
locals {
  zones  = ["x", "y", "z"]
  sizes  = { small = 1, large = 8 }
  loop   = local.loop
  nested = [{ id = "i-1", tags = { Name = "n" } }, { id = "i-2", tags = {} }]
}
variable "groups" {
  type = map(object({
    size   = number
    "disk" = optional(number, 100 + 100)
    kind   = optional(string)
    flags  = optional(list(bool), [])
    more   = optional(object({ on = optional(bool, true) }), {})
  }))
  default = {
    a = { size = "3", flags = ["true", false], other = 1 }
    b = { size = 1.5, disk = null, kind = 7, more = { on = "false" } }
  }
}
data "aws_availability_zones" "all" {}
resource "aws_subnet" "many" {
  count = 2
  cidr_block = cidrsubnet("10.0.0.0/16", 8, count.index)
}
resource "aws_subnet" "named" {
  for_each = toset(["a", "b"])
  availability_zone = "us-west-2${each.key}"
}
"""
BESIDE = {
    "plain.txt": "one\n",
    "values.tpl": 'a: "${name}"\nb: [${join(", ", list)}]\nc: $${x} {"${upper("}")}"}\n',
    "loop.tpl": "%{ for each in list }${each}%{ endfor }",
}


@pytest.fixture
def value(tmp_path: Path):
    def compute(text: str) -> Node:
        for name, content in BESIDE.items():
            (tmp_path / name).write_text(content)
        (tmp_path / "main.tf").write_text(f"{FILES}locals {{\n  result = {text}\n}}\n")
        module = read_module(tmp_path)
        (block,) = module.of_kind("locals", ("result",))
        return evaluate(block.attributes["result"], module)

    return compute


KNOWN: list[tuple[str, Any]] = [
    ('"plain"', "plain"),
    ("[var.missing] != null", True),
    ("{ a = var.missing } == null", False),
    ("[] == []", True),
    ('"${var.given}-${1 + 2}"', "a-3"),
    ('"${local.zones}"', ["x", "y", "z"]),
    ('"$${not} \\"quoted\\"\\n"', '${not} "quoted"\n'),
    ("-3", -3),
    ("2.5", 2.5),
    ("null", None),
    ("(1 + 2) * 3 - 4 % 3", 8),
    ("7 / 2", 3.5),
    ("8 / 2", 4),
    ('!true || 2 >= 2 && var.given == "a"', True),
    ("true || var.missing", True),
    ('var.given == "a" ? [1] : [2]', [1]),
    ("local.zones[1]", "y"),
    ('local.sizes["large"] + local.sizes.small', 9),
    ("local.nested[*].id", ["i-1", "i-2"]),
    ("local.nested.*.tags[0]", None),
    ('[for zone in local.zones : upper(zone) if zone != "y"]', ["X", "Z"]),
    ("[for number, zone in local.zones : number]", [0, 1, 2]),
    ('{ for key, size in local.sizes : "${key}-x" => size * 2 }', {"large-x": 16, "small-x": 2}),
    ('{ a = 1, "b" : 2, (var.given) = 3 }', {"a": 3, "b": 2}),
    ("slice(local.zones, 0, 2)", ["x", "y"]),
    ("element(local.zones, 4)", "y"),
    ("merge(local.sizes, { small = 2 }, null)", {"small": 2, "large": 8}),
    ("merge([{ a = 1 }, { b = 2 }]...)", {"a": 1, "b": 2}),
    ("concat([1], [], [2, 3])", [1, 2, 3]),
    ('lookup(local.sizes, "none", 5)', 5),
    ("keys(local.sizes)", ["large", "small"]),
    ("values(local.sizes)", [8, 1]),
    ("flatten([[1, [2]], 3])", [1, 2, 3]),
    ('toset(["a", "a", "b"])', ["a", "b"]),
    ('compact(["a", "", null])', ["a"]),
    ('coalesce(null, "", "b")', "b"),
    ("try(local.sizes.none, 7)", 7),
    ("length(local.zones)", 3),
    ("one([4])", 4),
    ('zipmap(["a"], [1])', {"a": 1}),
    ('cidrsubnet("10.0.0.0/16", 4, 15)', "10.0.240.0/20"),
    ('cidrsubnets("10.1.0.0/16", 4, 4, 8)', ["10.1.0.0/20", "10.1.16.0/20", "10.1.32.0/24"]),
    ('format("%s-%02d", "a", 3)', "a-03"),
    ('join(",", local.zones)', "x,y,z"),
    ('replace("a-b", "/[a-z]/", "c")', "c-c"),
    ('tonumber("4") + tonumber("1.5")', 5.5),
    ("basename(path.module)", None),
    ("aws_subnet.many[*].cidr_block", ["10.0.0.0/24", "10.0.1.0/24"]),
    ('aws_subnet.named["b"].availability_zone', "us-west-2b"),
    (
        "var.groups.a",
        {
            "size": 3,
            "disk": 200,
            "kind": None,
            "flags": [True, False],
            "more": {"on": True},
            "other": 1,
        },
    ),
    (
        "var.groups.b",
        {"size": 1.5, "disk": 200, "kind": "7", "flags": [], "more": {"on": False}},
    ),
    ('file("plain.txt")', "one\n"),
    ('chomp(file("${path.module}/plain.txt"))', "one"),
    ('fileexists("plain.txt") && !fileexists("none.txt")', True),
    ('fileset(path.module, "*.tpl")', ["loop.tpl", "values.tpl"]),
    (
        'templatefile("values.tpl", { name = "n", list = [1, 2] })',
        'a: "n"\nb: [1, 2]\nc: ${x} {"}"}\n',
    ),
    ('yamldecode(templatefile("values.tpl", { name = "n", list = [1] })).a', "n"),
    ("yamldecode(yamlencode({ a = [1] }))", {"a": [1]}),
    ('base64decode("b25l")', "one"),
    ('indent(2, "a\\nb")', "a\n  b"),
    ('dirname("a/b.yaml")', "a"),
    ("alltrue([true, false]) || anytrue([true, false])", True),
    ("can(local.zones)", True),
    ('strcontains("abc", "b")', True),
    ("ceil(1.2) + floor(1.8)", 3),
    ('setsubtract(setunion(["a"], ["b"]), setintersection(["a"], ["a", "c"]))', ["b"]),
    ("<<-EOT\n    one\n      two\n  EOT", "one\n  two\n"),
]
UNKNOWN = [
    ("var.missing", "${var.missing}"),
    ("local.loop", "${local.loop}"),
    ("local.none", "${local.none}"),
    ("aws_vpc.main.id", "${aws_vpc.main.id}"),
    ("aws_subnet.many[1].id", "${aws_subnet.many[1].id}"),
    ('file("x")', '${file("x")}'),
    ('file("/etc/passwd")', '${file("/etc/passwd")}'),
    ('fileset("none", "*")', '${fileset("none", "*")}'),
    ('yamldecode("a: [")', '${yamldecode("a: [")}'),
    ('templatefile("loop.tpl", {})', '${templatefile("loop.tpl", {})}'),
    ('templatefile("values.tpl", { name = var.missing, list = [] })',
     'a: "${var.missing}"\nb: []\nc: ${x} {"}"}\n'),
    ("var.missing ? 1 : 2", "${var.missing ? 1 : 2}"),
    ("length(data.aws_availability_zones.all.names)",
     "${length(data.aws_availability_zones.all.names)}"),
    ("data.aws_availability_zones.all.names[1]", "${data.aws_availability_zones.all.names[1]}"),
    ('"a-${var.missing}"', "a-${var.missing}"),
    ("1 / 0", "${1 / 0}"),
    ("var.missing == null", "${var.missing == null}"),
    ("var.secret", "(sensitive)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), KNOWN, ids=[text for text, _ in KNOWN])
def test_what_the_files_say_is_computed(value: Any, tmp_path: Path, text: str, expected: Any):
    found = value(text)
    if text == "basename(path.module)":
        expected = tmp_path.name
    if text == "local.nested.*.tags[0]":
        assert is_unknown(found)  # a mapping has no element 0
        return
    assert not is_unknown(found)
    assert plain(found) == expected


@pytest.mark.parametrize(("text", "shown"), UNKNOWN)
def test_what_the_files_do_not_say_is_shown_as_its_expression(value: Any, text: str, shown: str):
    found = value(text)
    assert is_unknown(found)
    assert plain(found) == shown


def test_a_part_of_a_value_may_be_unknown(value: Any):
    found = value('slice(concat(["a"], data.aws_availability_zones.all.names[*]), 0, 2)')
    assert plain(found) == ["a", "${data.aws_availability_zones.all.names[0]}"]
    assert is_unknown(found)
