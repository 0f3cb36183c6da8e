"""Files of an attacker, by what they do: the name of the file, its text, and what is said of it."""

from __future__ import annotations

from typing import NamedTuple


class Hostile(NamedTuple):
    """A file that asks for more than a reader should give."""

    text: str
    said: str
    """A part of the finding; `ok` for a file of which nothing has to be said."""
    name: str = "main.tf"


def _locals(*lines: str) -> str:
    return "locals {\n" + "\n".join(lines) + "\n}\n"


def _tenfold(first: str, one: str, begin: str, between: str, end: str) -> str:
    """Return twelve locals, each of which has the one before ten times."""
    rows = [f"a{i} = {begin}{between.join([one % (i - 1)] * 10)}{end}" for i in range(1, 13)]
    return _locals(f"a0 = {first}", *rows)


_LARGE = "makes a value of more than"
_LONG = "take too long to evaluate"
_DEEP = "is nested more than 64 levels deep"
_NESTED = "nested too deeply"

TERRAFORM = {
    "brackets": Hostile(_locals("a = " + "[" * 3000 + "1" + "]" * 3000), _DEEP),
    "parentheses": Hostile(_locals("a = " + "(" * 3000 + "1" + ")" * 3000), _DEEP),
    "blocks": Hostile("a {\n" * 3000 + "}\n" * 3000, _DEEP),
    "nested templates": Hostile(_locals("a = " + '"${' * 60 + "1" + '}"' * 60), _NESTED),
    "conditions": Hostile(_locals("a = " + "false ? 1 : " * 2000 + "1"), _NESTED),
    "sums": Hostile(_locals("a = 1" + " + 1" * 5000), _NESTED),
    "attributes": Hostile(_locals("a = aws_x.y" + ".b" * 9000), "ok"),
    "chain of locals": Hostile(
        _locals("a0 = 1", *(f"a{i} = local.a{i - 1}" for i in range(2999, 0, -1))), _NESTED
    ),
    "chain of resources": Hostile(
        "".join(
            f'resource "aws_s3_bucket" "r{i}" {{\n bucket = aws_s3_bucket.r{i + 1}.bucket\n}}\n'
            for i in range(500)
        ),
        _NESTED,
    ),
    "tenfold texts": Hostile(_tenfold('"x234567890"', "${local.a%d}", '"', "", '"'), _LARGE),
    "tenfold lists": Hostile(_tenfold('["x"]', "local.a%d", "[", ", ", "]"), _LARGE),
    "tenfold concat": Hostile(_tenfold('["x"]', "local.a%d", "concat(", ", ", ")"), _LONG),
    "ever deeper lists": Hostile(
        _locals("a0 = [1]", *(f"a{i} = [local.a{i - 1}]" for i in range(1, 200))), _LARGE
    ),
    "range": Hostile(_locals("a = range(100000000)"), "a `range` has more than 1024 values"),
    "range of 1e100": Hostile(_locals(f"a = range(1{'0' * 100})"), "a `range` has more than 1024"),
    "nested loops": Hostile(
        _locals("a = [for i in range(1000) : [for j in range(1000) : [for k in range(1000) : i]]]"),
        _LONG,
    ),
    "regular expression": Hostile(_locals(f'a = replace("{"a" * 60}!", "/(a+)+$/", "x")'), "ok"),
    "regular expression to the end": Hostile(
        _locals(f'a = replace("{"a" * 20000}", "/(a.*b)|a/", "x")'), _LONG
    ),
    "replacement": Hostile(_locals(f'a = replace("{"a" * 5000}", "a", "{"x" * 20000}")'), _LARGE),
    "width": Hostile(_locals('a = format("%999999999d", 1)'), "a width or precision of more than"),
    "precision": Hostile(_locals('a = format("%.999999999f", 1)'), "a width or precision of more"),
    "width of an argument": Hostile(_locals('a = format("%*d", 999999999, 1)'), "ok"),
    "indent": Hostile(_locals('a = indent(1000000000, "a\\nb")'), _LARGE),
    "join": Hostile(_locals(f'a = join("{"x" * 10000}", [for i in range(1024) : "y"])'), _LARGE),
    "setproduct": Hostile(
        _locals("a = setproduct(" + ", ".join(["range(1000)"] * 6) + ")"), _LARGE
    ),
    "operators of Python": Hostile(
        _locals('a = "aaaa" * 1000000000', 'b = "%999999999d" % 1', "c = [1] * 1000000000"), "ok"
    ),
    "squares": Hostile(
        _locals(
            "a0 = 999999999", *(f"a{i} = local.a{i - 1} * local.a{i - 1}" for i in range(1, 40))
        ),
        "ok",
    ),
    "numbers that are not finite": Hostile(
        _locals("a = 1e999999999", "b = ceil(1e999)", 'c = floor(tonumber("1e999"))', "d = -1e999"),
        "ok",
    ),
    "digits": Hostile(_locals("a = " + "1" * 30000), "ok"),
    "digits with signs": Hostile(
        _locals("a = 1" + "-1" * 15000), "more than 100 digits with signs"
    ),
    "subnets": Hostile(_locals('a = cidrsubnet("10.0.0.0/16", -99999999999, 0)'), "ok"),
    "begun JSON in a text": Hostile(
        _locals(f'a = jsondecode("{"[" * 9000}")'), "a `jsondecode` has a text that is"
    ),
    "deep JSON in a text": Hostile(
        _locals(f'a = jsondecode("{"[" * 9000}{"]" * 9000}")'), "a `jsondecode` has a text that is"
    ),
    "deep YAML in a text": Hostile(
        _locals(f'a = yamldecode("{"[" * 9000}{"]" * 9000}")'), "a `yamldecode` has a text that is"
    ),
    "decoding in a loop": Hostile(
        _locals(f't = "[{"1," * 20000}1]"', "a = [for i in range(1000) : jsondecode(local.t)]"),
        _LONG,
    ),
    "count": Hostile(
        'resource "aws_s3_bucket" "x" {\n count = 1000000000\n'
        + "".join(f' a{i} = "x"\n' for i in range(2000))
        + "}\n",
        _LONG,
    ),
    "dynamic blocks": Hostile(
        'resource "aws_s3_bucket" "x" {\n'
        + 'dynamic "a" {\n for_each = range(1000)\n content {\n' * 5
        + "b = 1\n"
        + "}\n}\n" * 5
        + "}\n",
        _LONG,
    ),
    "modules that call themselves": Hostile(
        "".join(f'module "m{i}" {{\n source = "./"\n}}\n' for i in range(50)), _LONG
    ),
    "types": Hostile(
        'variable "v" {\n type = list(object({'
        + ", ".join(f'a{i} = optional(list(string), ["x"])' for i in range(500))
        + "}))\n default = ["
        + ", ".join(["{}"] * 3000)
        + ']\n}\noutput "o" {\n value = var.v\n}\n',
        _LONG,
    ),
    "blank lines of a heredoc": Hostile(
        "locals {\n a = <<E\n" + "\n" * 50000 + "x\nE\n}\n", "thousands of blank lines"
    ),
    "a heredoc of one word": Hostile("locals {\n a = <<E\n" + "x" * 90000 + "\nE\n}\n", "ok"),
    "a heredoc without an end": Hostile("locals {\n a = <<E\n" + "x\n" * 30000, "not valid"),
    "tokens": Hostile("a=1\n" * 24000, "has more than 50000 tokens"),
    "a megabyte of tokens": Hostile("a=1\n" * 249000, "has more than 50000 tokens"),
    "a megabyte of text": Hostile(_locals(f'a = "{"x" * 999900}"'), "ok"),
    "a megabyte of comment": Hostile(f"/*{'x' * 999900}*/\n", "ok"),
    "more than a megabyte": Hostile(
        "# x\n" * 300000, "cannot be read: it has more than 1000000 bytes"
    ),
    "user data": Hostile(
        f'resource "aws_launch_template" "x" {{\n user_data = "{"[" * 20000}"\n}}\n', "ok"
    ),
    "surrogates": Hostile(_locals('a = "\\ud800"', 'b = jsondecode("\\"\\\\ud800\\"")'), "ok"),
    "deep JSON": Hostile(
        '{"locals": {"a": ' + "[" * 3000 + "]" * 3000 + "}}", "nested more than", "main.tf.json"
    ),
    "deep template in JSON": Hostile(
        '{"locals": {"a": "${' + "[" * 3000 + "]" * 3000 + '}"}}',
        "nested more than",
        "main.tf.json",
    ),
    "digits in JSON": Hostile('{"locals": {"a": ' + "1" * 5000 + "}}", "ok", "main.tf.json"),
    "values of variables": Hostile(
        "a = " + "[" * 3000 + "]" * 3000, "nested more than 64", "terraform.tfvars"
    ),
}

_EKSCTL = (
    "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c, region: us-west-2}\n"
)
_VPC = "Resources: {A: {Type: 'AWS::EC2::VPC', %s}}\n"


def _conditions(number: int, tree: str) -> str:
    rows = (f"  C{i}: {tree}\n".replace("N", str(i + 1)) for i in range(number))
    return (
        _VPC % "Condition: C0" + "Conditions:\n" + "".join(rows) + f"  C{number}: !Equals [a, a]\n"
    )


OTHERS = {
    "unknown keys": Hostile(
        _EKSCTL + "".join(f"key{i}: 1\n" for i in range(9000)), "500 is the maximum", "x.yaml"
    ),
    "values": Hostile(
        _EKSCTL + "".join(f"key{i}: 1\n" for i in range(70000)), "more than 20000", "x.yaml"
    ),
    "node groups": Hostile(
        _EKSCTL + "managedNodeGroups:\n" + "".join(f"- {{name: a{i}}}\n" for i in range(3000)),
        "500 is the maximum",
        "x.yaml",
    ),
    "documents": Hostile((_EKSCTL + "---\n") * 1000, "more than 100 documents", "x.yaml"),
    "tags of Python": Hostile(
        _EKSCTL + "a: !!bool maybe\nb: !!python/object/apply:os.system [x]\n", "", "x.yaml"
    ),
    "Jinja": Hostile("{{" * 200000, "is a Jinja template", "x.yaml"),
    "tags of Jinja": Hostile("{% if x %}" * 60000, "no format", "x.yaml"),
    "conditions, twice each": Hostile(
        _conditions(40, "!And [!Condition CN, !Condition CN]"), "ok", "x.yaml"
    ),
    "chain of conditions": Hostile(
        _conditions(400, "!Not [!Condition CN]"), "levels deep", "x.yaml"
    ),
    "begun substitutions": Hostile(
        _VPC % f"Properties: {{CidrBlock: !Sub '{'${' * 200000}'}}", "", "x.yaml"
    ),
    "substitutions of a long text": Hostile(
        _VPC % f"Properties: {{CidrBlock: !Sub '{'${P}' * 20000}'}}"
        + f"Parameters: {{P: {{Type: String, Default: '{'x' * 50000}'}}}}\n",
        "makes a text of more than",
        "x.yaml",
    ),
    "attributes, twice each": Hostile(
        "Resources:\n"
        + "".join(
            f"  A{i}: {{Type: 'AWS::EC2::VPC', Properties: {{CidrBlock: !Sub "
            f"'${{A{i + 1}.CidrBlock}}${{A{i + 1}.CidrBlock}}'}}}}\n"
            for i in range(30)
        )
        + "  A30: {Type: 'AWS::EC2::VPC', Properties: {CidrBlock: x}}\n",
        "more than 50000 values",
        "x.yaml",
    ),
    "subnets of CloudFormation": Hostile(
        _VPC % "Properties: {CidrBlock: !Cidr ['10.0.0.0/8', 999999999, 0]}", "", "x.yaml"
    ),
    "opened mappings": Hostile('{"a":' * 50000, "nested more than", "x.json"),
    "a number of 5,000 digits": Hostile(
        '{"jobDefinitionName": "a", "type": "container", "containerProperties": {"vcpus": '
        + "9" * 5000
        + "}}",
        "",
        "x.json",
    ),
    "29 MB of numbers": Hostile(
        '{"jobDefinitionName": "a", "type": "container", "x": [' + "1," * 14500000 + "1]}",
        "more than 20000 values",
        "x.json",
    ),
    "29 MB of mappings, called a plan": Hostile(
        '{"format_version": "1", "x": [' + "{}," * 9500000 + "1]}",
        "more than 1000000 values",
        "x.json",
    ),
    "node groups of a plan": Hostile(
        '{"format_version": "1", "planned_values": {"root_module": {"resources": ['
        + ",".join(
            f'{{"address": "aws_eks_node_group.x{i}", "type": "aws_eks_node_group", "name": "x", '
            '"mode": "managed", "values": {}}'
            for i in range(4000)
        )
        + "]}}}",
        "500 is the maximum",
        "x.json",
    ),
}
