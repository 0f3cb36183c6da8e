"""Comparison with moto, the source of the catalog."""

import json

import boto3
import pytest
from moto import mock_aws

from tools.catalog.compare import differences, main
from trainyard.components.catalog.instance_types import DATA_FILE


@pytest.fixture
def catalog():
    return json.loads(DATA_FILE.read_text(encoding="utf-8"))["instance_types"]


@pytest.fixture
def account(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield boto3.client("ec2", region_name="us-west-2")


def test_a_fact_that_changed_and_a_type_that_is_missing_are_one_line_each(account, catalog):
    """The account of moto is the source of the catalog: nothing else is a difference."""
    catalog["p5.48xlarge"]["efa_interfaces"] = 16
    catalog["g5.xlarge"]["zone_ids"] = []
    del catalog["p4d.24xlarge"]
    found = differences(catalog, account)
    assert found[0].startswith("g5.xlarge.zone_ids: catalog [], EC2 [")
    assert found[1:] == [
        "p4d.24xlarge: not in the catalog",
        "p5.48xlarge.efa_interfaces: catalog 16, EC2 32",
    ]


@pytest.mark.parametrize(
    ("vcpus", "exit_code", "said"),
    [
        (192, 0, ["us-west-2: 0 differences"]),
        (1, 1, ["p5.48xlarge.vcpus: catalog 1, EC2 192", "us-west-2: 1 difference"]),
    ],
)
@pytest.mark.usefixtures("account")
def test_the_command_fails_for_a_difference(catalog, capsys, tmp_path, vcpus, exit_code, said):
    catalog["p5.48xlarge"]["vcpus"] = vcpus
    data_file = tmp_path / "instance_types.json"
    data_file.write_text(json.dumps({"instance_types": catalog}), encoding="utf-8")
    assert main(["--region", "us-west-2"], data_file) == exit_code
    assert capsys.readouterr().out.splitlines() == said
