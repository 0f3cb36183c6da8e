"""Functions, conditions and parameters of a template are computed as CloudFormation does."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.importing.cloudformation.evaluation import Deferred, Evaluation
from trainyard.importing.reading import node_of
from trainyard.importing.source import plain

SECTIONS = """
Parameters:
  Name: {Type: String, Default: net}
  Zones: {Type: "List<AWS::EC2::AvailabilityZone::Name>", Default: "us-west-2a, us-west-2b"}
  Subnets: {Type: "List<AWS::EC2::Subnet::Id>"}
  Key: {Type: String}
  Ami: {Type: "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", Default: /aws/ami}
Mappings:
  Sizes: {us-west-2: {Cidr: 10.0.0.0/16}}
Conditions:
  Named: !Not [!Equals [!Ref Name, ""]]
  Keyed: !Equals [!Ref Key, ""]
  Both: !And [!Condition Named, {"Fn::Or": [!Condition Keyed, {"Fn::Equals": [1, "1"]}]}]
Resources:
  Vpc:
    Type: AWS::EC2::VPC
    Properties: {CidrBlock: !FindInMap [Sizes, !Ref "AWS::Region", Cidr]}
"""


def value_of(text: str, region: str = "us-west-2") -> Any:
    """Return the value of an expression; None for `AWS::NoValue`."""
    evaluation = Evaluation(root=node_of(SECTIONS), given={}, region=region, stack_name="stack")
    found = evaluation.value(node_of(text), ("Resources", "X"))
    return None if found is None else plain(found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!Ref Name", "net"),
        ("{Ref: Zones}", ["us-west-2a", "us-west-2b"]),
        ("!Select [1, !Ref Zones]", "us-west-2b"),
        ("!Select [0, {'Fn::Split': ['/', a/b]}]", "a"),
        ("!Sub '${Name}-${AWS::Region}-${!Kept}'", "net-us-west-2-${Kept}"),
        ("!Sub ['${X}-${Name}', {X: !Ref 'AWS::StackName'}]", "stack-net"),
        ("!Join ['-', [a, !Ref Name, 1, true]]", "a-net-1-true"),
        ("!FindInMap [Sizes, us-west-2, Cidr]", "10.0.0.0/16"),
        ("!FindInMap [Sizes, other, Cidr, {DefaultValue: none}]", "none"),
        ("!GetAtt Vpc.CidrBlock", "10.0.0.0/16"),
        ("!Cidr [!GetAtt Vpc.CidrBlock, 2, 15]", ["10.0.0.0/17", "10.0.128.0/17"]),
        ("!If [Named, yes-named, 'no']", "yes-named"),
        ("!If [Keyed, a, [!If [Both, b, c], !Ref 'AWS::NoValue']]", ["b"]),
        ("{a: !If [Keyed, 1, !Ref 'AWS::NoValue'], b: 2}", {"b": 2}),
        ("!Ref 'AWS::NoValue'", None),
        ("!Sub '${AWS::Partition}.${AWS::URLSuffix}'", "aws.amazonaws.com"),
    ],
)  # fmt: skip
def test_a_value_that_the_template_has_is_computed(text: str, value: Any):
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("!Ref Key", "${Key}", "`--parameters FILE`"),
        ("!Ref Vpc", "${Vpc}", ""),
        ("!GetAtt [Vpc, VpcId]", "${Vpc.VpcId}", ""),
        ("!ImportValue net-Subnet", "${net-Subnet}", "aws cloudformation list-exports"),
        ("!Select [1, !GetAZs '']", "${zones of us-west-2[1]}", "describe-availability-zones"),
        ("!Select [1, !Ref Subnets]", "${Subnets[1]}", "`Subnets` has no value"),
        ("!Sub '${Key}-x'", "${Key}-x", "`Key` has no value"),
        ("!Ref Ami", "{{resolve:ssm:/aws/ami}}", "Parameter Store"),
        ("!Transform {Name: X}", "${Fn::Transform}", "get-template"),
        ("!Cidr [here, 1]", "${Fn::Cidr}", "arguments"),
        ("!Ref 'AWS::AccountId'", "${AWS::AccountId}", "account"),
    ],
)  # fmt: skip
def test_a_value_that_only_aws_or_the_user_knows_has_what_to_do(text: str, value: str, said: str):
    found = value_of(text)
    assert isinstance(found, Deferred)
    assert (found, said in found.why) == (value, True)


def test_without_a_region_what_depends_on_it_is_not_known():
    assert value_of("!GetAtt Vpc.CidrBlock", region="").startswith("${Sizes")
    assert "--region" in value_of("!Ref 'AWS::Region'", region="").why


@pytest.mark.parametrize(
    "text",
    ["!If [Named]", "!Join [a]", "!Select [9, [a]]", "!Sub {}", "!FindInMap a", "!Cidr [1, x]"],
)
def test_wrong_arguments_do_not_stop_the_reading(text: str):
    assert isinstance(value_of(text), Deferred)
