"""The AWS objects that a stack file names are found by the types of its fields."""

import pytest

from tests.support.account import configured
from tests.support.eks import config, p5
from tests.support.parallelcluster import raw_p4de
from trainyard.components.config import (
    batch,
    eks,
    fsx_lustre,
    monitoring,
    node_pool,
    parallelcluster,
    reservations,
    storage,
)
from trainyard.components.config.base import StrictModel
from trainyard.components.config.named import named_kinds, names_in
from trainyard.components.named.checks import OBJECT_KINDS
from trainyard.components.named.made_names import MADE

MODULES = (
    batch,
    storage,
    eks,
    monitoring,
    node_pool,
    storage,
    parallelcluster,
    parallelcluster,
    reservations,
    storage,
    fsx_lustre,
)
MODELS = sorted(
    {
        each
        for module in MODULES
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, StrictModel) and each is not StrictModel
    },
    key=lambda each: each.__name__,
)
KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"


def kinds():
    """Return the kinds of named objects, by model and field."""
    return {
        (model.__name__, field): kind
        for model in MODELS
        for field in model.model_fields
        for kind in named_kinds(model, field)
    }


def test_every_kind_that_a_field_names_is_looked_up_and_no_other():
    assert set(kinds().values()) == set(OBJECT_KINDS) - set(MADE)


@pytest.mark.parametrize("ending", ["kms_key_arn", "secrets_key_arn", "iam_policies", "s3_path"])
def test_fields_of_the_same_meaning_name_the_same_kind(ending):
    fields = [(m.__name__, f) for m in MODELS for f in m.model_fields if f.endswith(ending)]
    assert fields
    assert len({kinds()[each] for each in fields}) == 1


def test_names_in_lists_and_mappings_have_their_keys():
    raw = p5(iam_policies=["CloudWatchAgentServerPolicy"])
    (use,) = names_in(config(raw))
    assert (use.kind, use.name) == ("iam-policy", "CloudWatchAgentServerPolicy")
    assert use.key == "architecture.node_groups.p5.iam_policies[0]"


def test_a_name_has_the_model_that_it_stands_in():
    volume = {"kind": "ebs", "mount_directory": "/apps", "size_gib": 200, "kms_key_arn": KEY}
    stack = configured(raw_p4de(storage={"apps": volume}))
    (use,) = [each for each in names_in(stack) if each.kind == "kms-key"]
    assert (use.key, use.owner) == ("storage.apps.kms_key_arn", stack.storage["apps"])


def test_a_stack_that_names_nothing_has_no_names():
    assert list(names_in(config(p5()))) == []
