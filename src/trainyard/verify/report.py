"""The result of `verify` for people, for CI, and as an HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree as ET

from trainyard.components.catalog.collective_tests import bandwidth_floor
from trainyard.components.secret_text import without_secrets
from trainyard.pages.page import page, paragraph, section, table
from trainyard.pages.plot import picture
from trainyard.verify.collective_log import size_text
from trainyard.verify.stages import Part, Stage
from trainyard.verify.verified import Verified


def report(verified: Verified) -> dict[str, Any]:
    """Return the result as JSON values."""
    nodes, log = verified.planned.nodes, verified.log
    return {
        "stack": verified.stack,
        "test": verified.planned.test,
        "instance_type": nodes.instance_type,
        "nodes": nodes.count,
        "efa_interfaces": nodes.efa_interfaces,
        "passed": verified.passed,
        "stages": [asdict(each) for each in verified.stages],
        "measurements": [asdict(each) for each in log.measurements],
        "alone": {each.nodes[0]: each.gb_per_second for each in verified.alone},
        "pairs": [
            {"nodes": each.nodes, "gb_per_second": each.gb_per_second} for each in verified.pairs
        ],
        "versions": verified.versions,
        "nccl_versions": sorted(log.nccl_versions),
        "plugin_versions": sorted(log.plugin_versions),
    }


def junit(stack: str, stages: Sequence[Stage]) -> str:
    """Return the stages as a JUnit test suite.

    https://github.com/testmoapp/junitxml: the elements that CI systems read
    """
    counts = {each: sum(stage.result == each for stage in stages) for each in ("fail", "skipped")}
    suite = ET.Element(
        "testsuite",
        name=f"verify {stack}",
        tests=str(len(stages)),
        failures=str(counts["fail"]),
        skipped=str(counts["skipped"]),
    )
    for stage in stages:
        case = ET.SubElement(suite, "testcase", classname=stack, name=stage.name)
        if stage.result == "fail":
            ET.SubElement(case, "failure", message=without_secrets(stage.reason))
        elif stage.result == "skipped":
            ET.SubElement(case, "skipped", message=without_secrets(stage.reason))
        else:
            ET.SubElement(case, "system-out").text = without_secrets(stage.reason)
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def html_report(verified: Verified, *, at: str) -> str:
    """Return a page with the stages, the curve, and what is known of each node.

    Args:
        verified: What was found.
        at: Time of the verification, as text.
    """
    nodes = verified.planned.nodes
    efa = f"{nodes.efa_interfaces} EFA interfaces each" if nodes.efa_interfaces else "no EFA"
    said = f"{verified.planned.test} on {nodes.count} x {nodes.instance_type}, {efa}. {at}"
    stages = [(each.name, each.result, each.reason) for each in verified.stages]
    return page(
        f"Verification of {verified.stack}: {'passed' if verified.passed else 'failed'}",
        paragraph(said),
        table(("Stage", "Result", "Reason"), stages, results=[row[1] for row in stages]),
        section("Bus bandwidth of all nodes", _curve(verified)),
        section("Each node alone", _alone(verified.alone)),
        section("Pairs of nodes, GB/s", _matrix(verified.pairs)),
        section("Versions", _versions(verified)),
    )


def _curve(verified: Verified) -> str:
    points = {
        each.size_bytes: each.bus_bandwidth_gb_per_second
        for each in verified.log.measurements
        if each.bus_bandwidth_gb_per_second > 0
    }
    if not points:
        return ""
    expected = _expected(verified, points)
    drawn = picture(
        "all-reduce", "message size", points, measure="GB/s", expected=expected, size_text=size_text
    )
    rows = [
        (size_text(size), f"{speed:g}", f"{expected[size]:g}" if size in expected else "")
        for size, speed in points.items()
    ]
    figures = table(("Message", "GB/s", "At least"), rows)
    told = paragraph("The dashed line is the threshold.") if expected else ""
    return f"{drawn}{told}\n<details><summary>Figures</summary>{figures}</details>"


def _expected(verified: Verified, sizes: Mapping[int, float]) -> dict[int, float]:
    """Return the thresholds by message size: that of the user is for the largest message."""
    if verified.minimum_gb_per_second is not None:
        return {max(sizes): verified.minimum_gb_per_second}
    nodes = verified.planned.nodes
    floors = {
        size: bandwidth_floor(nodes.instance_type, nodes=nodes.count, message_bytes=size)
        for size in sizes
    }
    return {size: floor.gb_per_second for size, floor in floors.items() if floor}


def _alone(parts: Sequence[Part]) -> str:
    rows = [(part.nodes[0], _speed(part), "; ".join(part.log.failures)) for part in parts]
    return table(("Node", "GB/s", "Messages"), rows) if rows else ""


def _matrix(pairs: Sequence[Part]) -> str:
    """Return a table with a row and a column for each node."""
    names = list(dict.fromkeys(node for pair in pairs for node in pair.nodes))
    speeds = {frozenset(pair.nodes): _speed(pair) for pair in pairs}
    rows = [
        (one, *(speeds.get(frozenset((one, two)), "") if one != two else "" for two in names))
        for one in names
    ]
    return table(("", *names), rows) if rows else ""


def _versions(verified: Verified) -> str:
    components = list(verified.versions)
    nodes = sorted({node for found in verified.versions.values() for node in found})
    rows = [
        (node, *(verified.versions[each].get(node, "") for each in components)) for node in nodes
    ]
    of_ranks = [
        f"{name} {', '.join(sorted(found))}"
        for name, found in (
            ("NCCL", verified.log.nccl_versions),
            ("aws-ofi-nccl", verified.log.plugin_versions),
        )
        if found
    ]
    told = paragraph("; ".join(of_ranks)) if of_ranks else ""
    return (table(("Node", *components), rows) if rows else "") + told


def _speed(part: Part) -> str:
    return "failed" if part.gb_per_second is None else f"{part.gb_per_second:g}"
