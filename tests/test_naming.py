import pytest

from trainyard.components.naming import excess_length, fitted, managed_policy_arns, partition


@pytest.mark.parametrize(
    ("length", "excess"),
    [pytest.param(56, 0, id="just-fits"), pytest.param(57, 1, id="one-too-long")],
)
def test_the_suffix_that_pulumi_appends_counts(length, excess):
    assert excess_length("x" * length, 64) == excess


def test_a_name_that_fits_stays_as_it_is():
    assert fitted("x" * 56, 64) == "x" * 56


def test_longer_names_are_cut_to_what_fits_and_stay_apart():
    first, second = fitted("x" * 60 + "a", 64), fitted("x" * 60 + "b", 64)
    assert first != second
    assert excess_length(first, 64) == excess_length(second, 64) == 0


@pytest.mark.parametrize(
    ("region", "wanted"),
    [
        ("us-west-2", "aws"),
        ("cn-north-1", "aws-cn"),
        ("us-gov-west-1", "aws-us-gov"),
        ("us-iso-east-1", "aws-iso"),
        ("us-isob-east-1", "aws-iso-b"),
        ("eu-isoe-west-1", "aws-iso-e"),
        ("us-isof-south-1", "aws-iso-f"),
        ("eusc-de-east-1", "aws-eusc"),
    ],
)
def test_a_region_lies_in_its_partition(region: str, wanted: str):
    assert partition(region) == wanted


def test_policies_are_named_once_with_the_path_that_they_have():
    names = (
        "AmazonS3ReadOnlyAccess",
        "service-role/AmazonECSTaskExecutionRolePolicy",
        "arn:aws-cn:iam::aws:policy/AmazonS3ReadOnlyAccess",
    )
    assert managed_policy_arns(names, "cn-north-1") == (
        "arn:aws-cn:iam::aws:policy/AmazonS3ReadOnlyAccess",
        "arn:aws-cn:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy",
    )
