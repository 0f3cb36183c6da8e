import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.support.eks import P5_CB, changed
from tools.schema import documents, main, stack_schema
from trainyard.components.config.given_stack import GivenStack

ROOT = Path(__file__).parents[3]
STACK_FILES = sorted(ROOT.glob("Pulumi.*.yaml"))
SCHEMA = Draft202012Validator(stack_schema())


def stack(cluster):
    return {"config": {"aws:region": "us-west-2", "trainyard:cluster": cluster}}


@pytest.mark.parametrize("path", documents())
def test_the_document_is_current(path):
    """python -m tools.schema renews it."""
    assert (ROOT / path).read_text(encoding="utf-8") == documents()[path]


def test_the_check_finds_nothing_to_do():
    assert main(["--check"]) == 0


def test_the_schema_is_one():
    Draft202012Validator.check_schema(stack_schema())


@pytest.mark.parametrize("path", STACK_FILES, ids=lambda path: path.name)
def test_every_stack_file_satisfies_the_schema_and_names_it(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=./docs/schema/stack.schema.json\n")
    assert list(SCHEMA.iter_errors(yaml.safe_load(text))) == []


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param(changed(network__vpc_id="vpc-1"), id="form"),
        pytest.param(changed(nonsense=1), id="unknown-key"),
        pytest.param(changed(reservations__block={"kind": "odrc"}), id="kind"),
        pytest.param(changed(reservations__block={"reservation_id": "x"}), id="no-kind"),
        pytest.param(changed(architecture__authentication_mode="NONE"), id="choice"),
    ],
)
def test_editors_show_what_the_program_would_refuse(cluster):
    assert list(SCHEMA.iter_errors(stack(P5_CB))) == []
    assert list(SCHEMA.iter_errors(stack(cluster)))


def test_a_key_beside_the_cluster_is_shown():
    document = stack(P5_CB)
    document["config"]["trainyard:vpc_id"] = "vpc-0123456789abcdef0"
    assert list(SCHEMA.iter_errors(document))


def descriptions(schema):
    for name, model in {"StackConfig": schema, **schema["$defs"]}.items():
        yield name, model.get("description")
        for key, field in model["properties"].items():
            yield f"{name}.{key}", field.get("description")


def test_every_model_and_key_is_described():
    schema = GivenStack.model_json_schema()
    assert [name for name, text in descriptions(schema) if not text] == []


def test_the_reference_has_a_section_for_every_model():
    text = documents()["docs/config.md"]
    models = json.loads(documents()["docs/schema/stack.schema.json"])["$defs"]
    assert [name for name in models if f"\n## {name}\n" not in text] == []
