"""The models of its architecture check a stack file, or all models if that is unknown."""

import json
import subprocess
import sys

import pytest

from tests.support import batch, network_stack, parallelcluster
from tests.support.eks import P5_CB, changed
from tests.support.tracked import ROOT
from trainyard.components.config.base import StrictModel
from trainyard.components.config.batch import BatchStackConfig
from trainyard.components.config.eks import EksStackConfig
from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.keys import kinds_of
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.network_stack import NetworkStackConfig
from trainyard.components.config.parallelcluster import ParallelClusterStackConfig
from trainyard.components.config.problems import ConfigError
from trainyard.components.config.stack import StackConfig
from trainyard.components.config.stack_models import given_model

KINDS = kinds_of(GivenStack.model_fields["architecture"].annotation)


def test_every_architecture_of_the_schema_has_a_model_of_its_own() -> None:
    for kind in KINDS:
        architecture = given_model(kind).model_fields["architecture"].annotation
        assert architecture is not None
        assert architecture.model_fields["kind"].annotation.__args__ == (kind,)
    assert len({given_model(kind) for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", [None, "Eks", "", 1, True, ["eks"], {"eks": "eks"}])
def test_a_kind_that_is_not_known_is_answered_by_the_model_of_all(kind: object) -> None:
    assert given_model(kind) is GivenStack


def test_the_models_differ_in_their_architecture_alone() -> None:
    for kind in KINDS:
        fields = given_model(kind).model_fields
        assert list(fields) == list(GivenStack.model_fields)
        for name in StackConfig.model_fields:
            assert repr(fields[name]) == repr(GivenStack.model_fields[name])


@pytest.mark.parametrize(
    ("raw", "model"),
    [
        pytest.param(P5_CB, EksStackConfig, id="eks"),
        pytest.param(parallelcluster.RAW, ParallelClusterStackConfig, id="parallelcluster"),
        pytest.param(batch.RAW, BatchStackConfig, id="batch"),
        pytest.param(network_stack.NETWORK_RAW, NetworkStackConfig, id="network"),
    ],
)
def test_a_configuration_is_of_the_class_of_its_architecture(raw, model) -> None:
    config = load_stack_config(raw, stack_file="Pulumi.dev.yaml")
    assert type(config) is model
    assert config.model_fields_set == set(raw)


@pytest.mark.parametrize("kind", [None, "Eks", 1, ["eks"], {"kind": "eks"}])
def test_what_is_no_architecture_is_answered_with_all_there_are(kind: object) -> None:
    with pytest.raises(ConfigError) as refused:
        load_stack_config(changed(architecture__kind=kind), stack_file="Pulumi.dev.yaml")
    (problem,) = refused.value.problems
    assert problem.path == "trainyard:cluster.architecture.kind"
    assert problem.allowed == "eks, parallelcluster, batch, network"


def test_a_key_named_like_the_kind_is_placed_where_it_stands() -> None:
    raw = changed(architecture__eks={"addons": 1}, architecture__node_groups__p5__maximum="many")
    with pytest.raises(ConfigError) as refused:
        load_stack_config(raw, stack_file="Pulumi.dev.yaml")
    assert [problem.path for problem in refused.value.problems] == [
        "trainyard:cluster.architecture.node_groups.p5.maximum",
        "trainyard:cluster.architecture.eks",
    ]


def test_a_right_configuration_builds_the_validator_of_its_own_stack_alone() -> None:
    """`RootVolume` builds its schema for the default of a field, and the complete one reuses it."""
    program = (
        "import json, pydantic_core, sys\n"
        "from trainyard.components.config.base import StrictModel\n"
        "from trainyard.components.config.load import load_stack_config\n"
        "load_stack_config(json.loads(sys.argv[1]), stack_file='Pulumi.dev.yaml')\n"
        "def below(model):\n"
        "    yield model\n"
        "    for each in model.__subclasses__():\n"
        "        yield from below(each)\n"
        "print(sorted({m.__name__ for m in below(StrictModel) if isinstance(\n"
        "    m.__dict__.get('__pydantic_validator__'), pydantic_core.SchemaValidator)}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(P5_CB)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "['GivenEksStack', 'RootVolume']"


def test_the_annotations_of_fields_are_no_texts_that_pydantic_would_compile() -> None:
    def below(model: type[StrictModel]):
        for each in model.__subclasses__():
            yield each
            yield from below(each)

    compiled = {
        f"{model.__module__}.{model.__qualname__}"
        for model in below(StrictModel)
        if model.__module__.startswith("components.")
        and any(isinstance(each, str) for each in vars(model).get("__annotations__", {}).values())
    }
    assert compiled == set()
