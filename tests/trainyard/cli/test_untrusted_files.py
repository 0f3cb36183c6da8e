"""Files of an attacker cannot stop `lint`, exhaust the machine, or hide findings of other files."""

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.support.hostile_files import OTHERS, TERRAFORM, Hostile
from trainyard.cli.app import app
from trainyard.importing.terraform.documents import read_directory

ROOT = Path(__file__).parents[3]

NEIGHBOUR = """\
resource "aws_eks_node_group" "g" {
  cluster_name   = "c"
  instance_types = ["p5.48xlargee"]
  subnet_ids     = ["subnet-11111111"]
}
"""
OF_NEIGHBOUR = "neighbour.tf:3: error E1: "
ALL = {**TERRAFORM, **OTHERS}
LARGEST = (
    *("tenfold lists", "a megabyte of tokens", "a megabyte of text", "types", "count"),
    *("29 MB of numbers", "29 MB of mappings, called a plan", "modules that call themselves"),
)
"""Files of which the time and memory are measured: the worst of each kind."""
MIB = 1024 * 1024
LEAST_SECONDS = 0.8
"""Time of `least` on the machine of docs/performance.md; a slower one has as much more time."""


def write(directory: Path, hostile: Hostile) -> list[str]:
    (directory / "neighbour.tf").write_text(NEIGHBOUR)
    (directory / hostile.name).write_text(hostile.text, encoding="utf-8", errors="surrogatepass")
    return [str(directory / hostile.name), str(directory / "neighbour.tf")]


@pytest.mark.parametrize("name", ALL)
def test_a_hostile_file_has_a_finding_and_its_neighbour_keeps_its_own(name: str, tmp_path: Path):
    hostile = ALL[name]
    done = CliRunner().invoke(app, ["lint", *write(tmp_path, hostile)])
    assert isinstance(done.exception, SystemExit | None), done.exception
    assert done.exit_code == 2
    assert OF_NEIGHBOUR in done.output
    own = [line for line in done.output.splitlines() if f"/{hostile.name}" in line[:300]]
    assert any(hostile.said in line for line in own), own[:5]


def cost(arguments: list[str]) -> tuple[float, int, str]:
    """Return the seconds of the processor, the most bytes of memory, and the output of `lint`."""
    program = (
        "import resource, sys; from trainyard.cli.app import app\n"
        "try: app(['lint', *sys.argv[1:]])\n"
        "finally:\n"
        "  used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "  print('used', used.ru_utime + used.ru_stime, used.ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)),
    )
    (used,) = [line.split() for line in done.stdout.splitlines() if line.startswith("used ")]
    return float(used[1]), int(used[2]) * 1024, done.stdout + done.stderr


@pytest.fixture(scope="module")
def least(tmp_path_factory: pytest.TempPathFactory) -> tuple[float, int]:
    """The cost of the neighbour alone."""
    seconds, memory, _ = cost(write(tmp_path_factory.mktemp("none"), Hostile("", ""))[1:])
    return seconds, memory


@pytest.mark.parametrize("name", LARGEST)
def test_a_hostile_file_takes_two_seconds_a_megabyte_and_500_mib_at_most(
    name: str, tmp_path: Path, least: tuple[float, int]
):
    hostile = ALL[name]
    seconds, memory, output = cost(write(tmp_path, hostile))
    assert OF_NEIGHBOUR in output
    assert "Traceback" not in output
    slower = max(1, least[0] / LEAST_SECONDS)
    assert seconds - least[0] < 2 * max(1, len(hostile.text) / 1e6) * slower
    assert memory - least[1] < 500 * MIB


def test_files_of_one_directory_are_read_once(tmp_path: Path):
    """Otherwise the time grows with the square of their number."""
    paths = []
    for number in range(60):
        paths.append(tmp_path / f"{number}.tf")
        paths[-1].write_text(f"locals {{\n a{number} = [for i in range(500) : i]\n}}\n")
    (tmp_path / "neighbour.tf").write_text(NEIGHBOUR)
    one, _, _ = cost([str(paths[0])])
    all_of_them, _, output = cost([*map(str, paths), str(tmp_path / "neighbour.tf")])
    assert OF_NEIGHBOUR in output
    assert all_of_them < 4 * one


def test_import_of_a_directory_with_a_hostile_file_writes_nothing(tmp_path: Path):
    write(tmp_path, TERRAFORM["range"])
    stacks = tmp_path / "stacks"
    stacks.mkdir()
    done = CliRunner().invoke(app, ["--stacks", str(stacks), "import", str(tmp_path)])
    assert "a `range` has more than 1024 values" in f"{done.output}{done.exception}"
    assert done.exit_code
    assert not list(stacks.glob("Pulumi.*.yaml"))


EXPRESSIONS = st.recursive(
    st.sampled_from(
        ("1", "1e999", "-3", '"x"', '"é\U0001f600"', "true", "null", "local.a", "var.v", "each.key")
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.lists(inner, max_size=3).map(
            lambda parts: "{" + ", ".join(f"k{i} = {each}" for i, each in enumerate(parts)) + "}"
        ),
        inner.map(lambda each: f"({each})"),
        inner.map(lambda each: f"!{each}"),
        inner.map(lambda each: f'"a${{{each}}}b"'),
        inner.map(lambda each: f"[for k, v in {each} : v]"),
        inner.map(lambda each: f"{{for k, v in {each} : k => v}}"),
        st.tuples(inner, st.sampled_from("+-*/%<>"), inner).map(" ".join),
        st.tuples(inner, inner, inner).map(lambda parts: "{} ? {} : {}".format(*parts)),
        st.tuples(inner, st.sampled_from(("[0]", ".k0", "[*]", ".*", '["x"]'))).map("".join),
        st.tuples(
            st.sampled_from(
                [
                    "abs",
                    "alltrue",
                    "base64decode",
                    "ceil",
                    "chomp",
                    "cidrhost",
                    "cidrsubnet",
                    "cidrsubnets",
                    "coalesce",
                    "compact",
                    "concat",
                    "contains",
                    "distinct",
                    "element",
                    "flatten",
                    "floor",
                    "format",
                    "indent",
                    "index",
                    "join",
                    "jsondecode",
                    "jsonencode",
                    "keys",
                    "length",
                    "lookup",
                    "lower",
                    "max",
                    "merge",
                    "min",
                    "one",
                    "range",
                    "replace",
                    "reverse",
                    "setintersection",
                    "setproduct",
                    "setsubtract",
                    "setunion",
                    "slice",
                    "sort",
                    "split",
                    "substr",
                    "sum",
                    "templatefile",
                    "title",
                    "toset",
                    "tonumber",
                    "trim",
                    "try",
                    "values",
                    "yamldecode",
                    "yamlencode",
                    "zipmap",
                    "file",
                    "fileset",
                ]
            ),
            st.lists(inner, max_size=4),
        ).map(lambda parts: f"{parts[0]}({', '.join(parts[1])})"),
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=150)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=4))
def test_no_expression_raises_anything(expressions: list[str]):
    rows = [f"  a{number} = {each}" for number, each in enumerate(expressions)]
    text = "\n".join(["locals {", "  a = [1, 2]", *rows, "}", 'variable "v" {', "}"])
    text += '\nresource "aws_s3_bucket" "b" {\n  for_each = local.a0\n  bucket = local.a0\n}\n'
    with TemporaryDirectory() as name:
        (Path(name) / "main.tf").write_text(text, encoding="utf-8")
        read = read_directory(Path(name))
    assert not any("Traceback" in problem.message for problem in read.problems)
