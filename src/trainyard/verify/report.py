"""The result of `verify` for people and for CI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree as ET

from trainyard.components.secret_text import without_secrets
from trainyard.verify.verdict import Stage
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
