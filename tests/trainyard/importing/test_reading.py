"""Files are read with the line of every value, and refused with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from jinja2 import Environment, TemplateSyntaxError

from trainyard.importing.imported import UnknownFormatError, import_file
from trainyard.importing.reading import documents_in, node_of_json, read_documents, without_jinja
from trainyard.importing.source import child, leaves, text_of
from trainyard.stack_files.yaml_limits import DEEPEST, UnreadableYamlError


def written(tmp_path: Path, text: str, name: str = "file.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_value_has_its_line(tmp_path: Path):
    text = "a:\n  b: 1\n  c:\n    - x\n    -\n      d: yes\ne: {}\n"
    (document,) = read_documents(written(tmp_path, text))
    found = {text_of(at): (node.value, node.line) for at, node in leaves(document.root)}
    assert found == {"a.b": (1, 2), "a.c[0]": ("x", 4), "a.c[1].d": (True, 6), "e": ({}, 7)}


def test_anchors_and_merge_keys_are_resolved(tmp_path: Path):
    text = "base: &base {a: 1, b: 2}\nused:\n  <<: *base\n  b: 3\nagain: *base\n"
    (document,) = read_documents(written(tmp_path, text))
    assert document.at("used") == {"a": 1, "b": 3}
    assert document.at("again") == {"a": 1, "b": 2}


def test_each_document_of_a_file_is_read(tmp_path: Path):
    documents = read_documents(written(tmp_path, "a: 1\n---\n---\nb: 2\n"))
    assert [(each.index, each.at()) for each in documents] == [(0, {"a": 1}), (2, {"b": 2})]


@pytest.mark.parametrize(
    ("text", "zones"),
    [
        ("zones: [${A},${B}]\n", ["<A>", "<B>"]),
        ('{"zones": [${A}]}', ["<A>"]),
        ('zones: ["${A}"]\n', ["${A}"]),
    ],
)
def test_variables_of_a_shell_are_placeholders_also_where_yaml_has_none(
    tmp_path: Path, text: str, zones: list[str]
):
    (document,) = read_documents(written(tmp_path, text))
    assert document.at("zones") == zones


def test_json_is_read_as_yaml_even_with_tabs(tmp_path: Path):
    (document,) = read_documents(written(tmp_path, '{\n\t"a": [1,\t2]\n}\n', "file.json"))
    assert document.at("a") == [1, 2]
    found = child(document.root, "a")
    assert found is not None
    assert found.line == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2\n", "line 2: is not valid YAML: the key 'a' is there twice"),
        ("a: &a [*a]\n", "the alias `*a` contains itself"),
        ("a: [1\n", "is not valid YAML"),
        ("a: b\n  c: {{ d }}\n", "line 2: is a Jinja template, not YAML; render it"),
        ("? {a: 1}\n: 2\n", "line 1: is not valid YAML: a key is not text"),
    ],
)
def test_a_file_that_is_no_document_is_refused_with_its_line(tmp_path: Path, text: str, said: str):
    with pytest.raises(UnreadableYamlError) as raised:
        read_documents(written(tmp_path, text))
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("content", "command"),
    [
        (b"# mine\n[global]\ncluster_template = default\n", "pcluster3-config-converter"),
        (b'{\n  "version": 4,\n  "terraform_version": "1.13.4",\n  "serial": 1\n}\n',
         "terraform show -json {path} > state.json"),
        (b'{"@level":"info","@message":"Terraform 1.13.4"}\n{"@level":"info"}\n',
         "terraform plan -out tfplan"),
        (b"PK\x03\x04\x14\x00\xff", "terraform show -json {path} > plan.json"),
    ],
    ids=["parallelcluster-2", "stored-state", "log-of-a-plan", "stored-plan"],
)  # fmt: skip
def test_a_file_in_another_form_is_answered_with_the_command_that_converts_it(
    tmp_path: Path, content: bytes, command: str
):
    path = tmp_path / "config"
    path.write_bytes(content)
    with pytest.raises(UnreadableYamlError) as raised:
        import_file(path)
    assert command.format(path=path) in str(raised.value)


def test_a_file_of_no_format_is_refused_with_the_formats_that_can_be_read(tmp_path: Path):
    expected = "it is `kind: Deployment`, which .*; these can: AWS ParallelCluster configuration"
    with pytest.raises(UnknownFormatError, match=expected):
        import_file(written(tmp_path, "kind: Deployment\n"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text("a{}[]:,\\\"' \u00e9", max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('ab"{', max_size=4), inner),
    max_leaves=12,
)
FILE = Path("file.json")


@given(value=st.dictionaries(st.text("abc", min_size=1), VALUES), indent=st.sampled_from([None, 2]))
def test_a_text_has_the_values_and_lines_that_yaml_reads(value: dict[str, Any], indent: int | None):
    text = json.dumps(value, indent=indent)
    (document,) = documents_in(text, Path("file.yaml"))
    assert node_of_json(text, FILE) == document.root


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"a": 1,\n"b": {"c": 1,\n"c": 2}}',
            "line 3: is not valid YAML: the key 'c' is there twice",
        ),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), f"nested more than {DEEPEST} levels deep"),
        ("[" * 100_000 + "]" * 100_000, f"nested more than {DEEPEST} levels deep"),
    ],
)
def test_a_text_beyond_the_limits_is_refused(text: str, said: str):
    with pytest.raises(UnreadableYamlError) as raised:
        node_of_json(text, FILE)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("a: {{ region }}", "a: <region>"),
        ("a: [{{ ids[0] }}, {{ x.y }}-1]", "a: [<ids-0>, <x.y>-1]"),
        ('a: {{ "b: c" | default("d") }}', "a: <b-c-default-d>"),
        ("{% if a %}x: 1{% endif %}", "x: 1"),
        ("{%- if a -%}x: 1{%- else -%}x: 2{%- endif -%}", "x: 1"),
        ('{% if a == "b" %}x{% else %}y{% endif %}: 1', "y: 1"),
        ('{% if a == "b" %}x{% elif c %}y{% else %}z{% endif %}: 1', "y: 1"),
        ("{% if not a %}x: 1{% endif %}", ""),
        ("{% if a %}{% if not b %}x{% else %}y{% endif %}{% else %}z{% endif %}", "y"),
        ("{% for a in b %}- {{ a }}\n{% endfor %}", "- <a>\n"),
        ("a: 1 {# {{ b }} #}", "a: 1 "),
        ("{% set a = [\n1] %}b: 1", "\nb: 1"),
        ("{% endif %}a: 1{% else %}", "a: 1"),
    ],
)
def test_a_template_is_the_text_of_its_first_branch_that_holds(template: str, text: str):
    assert without_jinja(template) == text


@given(st.lists(st.sampled_from(["a\n", "{{ b\n}}", "{% if c %}", "{% else %}", "{% endif %}",
                                 "{#\n#}", "{% for d in e %}\n", "{%", "{{", "}}"])))  # fmt: skip
def test_every_line_keeps_its_number(parts: list[str]):
    template = "".join(parts)
    assert without_jinja(template).count("\n") == template.count("\n")


@given(st.lists(st.sampled_from(["a", "\n", "{% if x %}", "{% if not x %}", "{% else %}",
                                 "{% elif x %}", "{% endif %}"])))  # fmt: skip
def test_conditions_are_those_that_jinja_evaluates_with_true_values(parts: list[str]):
    template = "".join(parts)
    try:
        rendered = Environment(autoescape=True, keep_trailing_newline=True).from_string(template)
    except TemplateSyntaxError:
        return
    assert without_jinja(template).replace("\n", "") == rendered.render(x=True).replace("\n", "")
