"""The docstrings of fields, which are read on demand."""

import subprocess
import sys

from trainyard.components.config.base import StrictModel, field_docs
from trainyard.components.config.eks import EksStackConfig
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.config.stack import StackConfig


def test_a_field_has_what_stands_below_it():
    assert field_docs(StackConfig)["network"] == "The network."


def test_a_docstring_of_several_lines_keeps_its_lines_without_their_indentation():
    text = field_docs(StackConfig)["name"]
    assert "\n" in text
    assert "\n " not in text


def test_a_subclass_has_what_its_base_says_unless_it_declares_the_field_itself():
    docs = field_docs(EksStackConfig)
    assert docs["name"] == field_docs(StackConfig)["name"]
    assert docs["architecture"] == "What runs in the network."
    assert docs["network"] != field_docs(StackConfig)["network"]


class Undocumented(RootVolume):
    size_gib: int = 1  # pyright: ignore[reportIncompatibleVariableOverride]


def test_a_field_that_is_declared_again_without_words_has_none():
    assert "size_gib" in field_docs(RootVolume)
    assert "size_gib" not in field_docs(Undocumented)


def test_a_model_made_by_code_has_no_docs():
    assert field_docs(type("Made", (StrictModel,), {})) == {}


def test_a_right_configuration_reads_no_source_and_builds_one_validator():
    code = (
        "import inspect, pydantic_core, sys\n"
        "from trainyard.components.config import base\n"
        "from trainyard.components.config.stack import StackConfig\n"
        "built = [m for m in StackConfig.__subclasses__() + [StackConfig]"
        " if isinstance(m.__dict__.get('__pydantic_validator__'), pydantic_core.SchemaValidator)]\n"
        "print(built, base.field_docs.cache_info().currsize)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] 0"
