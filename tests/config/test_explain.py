"""Messages about keys without a value, wrong formats, and keys that resemble no other."""

from __future__ import annotations

from tests.support.eks import changed, p5, schema_problems
from tests.support.kubernetes import DEFAULT


def test_a_key_without_a_value_may_go_where_it_has_a_default():
    (problem,) = schema_problems(p5(efa_enabled=None)).values()
    assert problem.problem.startswith("has no value")
    assert problem.remedy.startswith("pulumi config rm ")


def test_a_key_without_a_value_that_has_no_default_is_missing():
    (problem,) = schema_problems(p5(instance_type=None)).values()
    assert problem.problem.startswith("is missing")


def test_an_address_of_the_wrong_form_has_an_example_in_its_fix():
    network = {"kind": "new-vpc", "availability_zones": ["us-west-2a"], "cidr": "big"}
    problem = schema_problems(changed(network=network))["network.cidr"]
    assert problem.remedy.endswith("for example to `10.0.0.0/16`")


def test_a_key_that_is_like_no_other_is_not_renamed():
    problem = schema_problems(changed(kubernetes_version=DEFAULT))["kubernetes_version"]
    assert "nearest" not in problem.problem
    assert problem.remedy.startswith("pulumi config rm ")
