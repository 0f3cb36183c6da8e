"""The chart of an `up`, as a document: its labels, and where its bars begin."""

import xml.etree.ElementTree as ET

import pytest

from tools.benchmarks.cold_up import BESIDE, CHAIN, NAMES, critical_path, gantt

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def bars():
    root = ET.fromstring(gantt(critical_path("batch-trn1")))
    return {
        title.text.split(": ")[0]: (float(rect.get("x")), float(rect.get("width")), rect)
        for rect in root.iter(f"{SVG}rect")
        if (title := rect.find(f"{SVG}title")) is not None
    }


def test_the_longest_chain_stands_out(bars):
    colours = {name: rect.get("fill") for name, (_, _, rect) in bars.items()}
    assert colours["NatGateway batch-trn1-network-usw2-az4-nat"] == CHAIN
    assert colours["InstanceProfile batch-trn1-trn1-instance-profile"] == BESIDE


def test_a_bar_begins_where_what_it_waits_for_ends(bars):
    vpc, network = bars["Vpc batch-trn1-network-vpc"], "VpcIpv4CidrBlockAssociation"
    association = bars[f"{network} batch-trn1-network-cidr-10.1.0.0-16"]
    assert vpc[0] == NAMES
    assert association[0] == pytest.approx(vpc[0] + vpc[1], abs=0.2)


def test_short_steps_are_counted_and_not_drawn(bars):
    assert not any("RouteTableAssociation" in name for name in bars)
    assert "short steps are not drawn" in gantt(critical_path("batch-trn1"))
