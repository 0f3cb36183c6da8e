"""Jinja templates are read with placeholders, and every line keeps its number."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given
from jinja2 import Environment, TemplateSyntaxError

from trainyard.importing.jinja_text import without_jinja


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
