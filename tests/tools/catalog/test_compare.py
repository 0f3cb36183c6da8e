"""Comparison with moto, the source of the catalog."""

import json

import boto3
import pytest
from moto import mock_aws

from components.catalog.instance_types import DATA_FILE
from tools.catalog.compare import differences, main


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


def test_an_unchanged_account_agrees_with_the_catalog(account, catalog):
    assert differences(catalog, account) == []


def test_a_fact_that_changed_is_one_line(account, catalog):
    catalog["p5.48xlarge"]["efa_interfaces"] = 16
    catalog["g5.xlarge"]["zone_ids"] = []
    found = differences(catalog, account)
    assert found[0].startswith("g5.xlarge.zone_ids: catalog [], EC2 [")
    assert found[1:] == ["p5.48xlarge.efa_interfaces: catalog 16, EC2 32"]


def test_a_type_that_the_catalog_lacks_is_one_line(account, catalog):
    del catalog["p5.48xlarge"]
    assert differences(catalog, account) == ["p5.48xlarge: not in the catalog"]


def test_the_command_says_that_there_is_no_difference(account, capsys):
    assert main(["--region", "us-west-2"]) == 0
    assert capsys.readouterr().out == "us-west-2: 0 differences\n"


def test_the_command_fails_for_a_difference(account, capsys, monkeypatch, tmp_path):
    data = json.loads(DATA_FILE.read_text(encoding="utf-8"))
    data["instance_types"]["p5.48xlarge"]["vcpus"] = 1
    changed = tmp_path / "instance_types.json"
    changed.write_text(json.dumps(data), encoding="utf-8")
    monkeypatch.setattr("tools.catalog.compare.DATA_FILE", changed)
    assert main(["--region", "us-west-2"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "p5.48xlarge.vcpus: catalog 1, EC2 192",
        "us-west-2: 1 difference",
    ]
