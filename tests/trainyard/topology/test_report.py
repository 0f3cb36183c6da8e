"""The report has every part, and needs nothing else."""

import re
from datetime import date
from pathlib import Path

from tests.support.stacks import prepared
from tests.trainyard.topology.support.topologies import topology_of
from trainyard.changes.steps import PlannedStep
from trainyard.components.catalog.prices import Price
from trainyard.components.cost.item import CostItem
from trainyard.findings.finding import Finding
from trainyard.topology.drawing import draw
from trainyard.topology.report import StackReport, html_report

FINDING = Finding(
    rule="plan/x", stage="plan", level="warning", message="<too small>", stack="p5-cb", file=Path()
)
STEP = PlannedStep(
    operation="update",
    urn="urn:pulumi:p5-cb::trainyard::aws:eks/cluster:Cluster::p5-cb",
    type="aws:eks/cluster:Cluster",
    changed=("version",),
)


def report(**parts: object) -> str:
    given = {
        "title": "p5-cb",
        "about": "now",
        "picture": draw(topology_of("p5-cb"), title="p5-cb", linked=True),
        "findings": [],
        "plan": prepared("p5-cb").plan,
        **parts,
    }
    return html_report(StackReport(**given))


def test_a_link_in_the_picture_opens_the_details_of_its_nodes():
    page = report()
    links = re.findall(r'href="#([^"]+)"', page)
    assert sorted(links) == sorted(
        re.findall(r'<details><summary>[^<]*</summary>\n<div id="([^"]+)"', page)
    )
    assert len(links) == 2


def test_the_details_have_every_network_interface():
    assert report().count("<td>efa-only</td>") == 32


def test_findings_changes_and_resources_are_listed_as_text():
    page = report(
        findings=[FINDING],
        changes=[STEP],
        resources=[{"type": "aws:eks/cluster:Cluster", "name": "p5-cb", "parent": "a:b:C::p5"}],
    )
    assert "&lt;too small&gt;" in page
    assert "<td>~\u00a0changed</td>" in page
    assert "<td>version</td>" in page
    assert "aws:eks/cluster:Cluster (1)" in page


def test_charges_are_listed_with_their_sums():
    price = Price(usd=0.1, day=date(2026, 11, 1), source="list", url="https://aws.amazon.com")
    item = CostItem(
        group="nodes",
        what="2 x p5.48xlarge",
        resource="architecture",
        key="p5",
        unit="node",
        period="hour",
        quantity=2,
        price=price,
    )
    page = report(charges=[item], cost=["total: 0.20 USD an hour"])
    assert "<td>0.2000</td>" in page
    assert "<p>total: 0.20 USD an hour</p>" in page


def test_empty_parts_have_no_section():
    page = report()
    assert "<h2>Changes</h2>" not in page
    assert "<h2>Resources</h2>" not in page


def test_a_report_asks_for_nothing_else():
    page = report()
    assert not re.findall(r"(?:src|href)=\"(?!#)[^\"]*\"|url\(|@import|<script", page)
