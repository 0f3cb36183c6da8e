"""The SARIF document has the properties that the standard requires and that code scanning reads.

Section numbers are those of SARIF 2.1.0. GitHub:
https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trainyard.findings.finding import Finding
from trainyard.findings.sarif import RuleText, Run, sarif

ROOT = Path("/srv/checkout")


def finding(rule: str = "schema/network.vpc_id", **values: Any) -> Finding:
    given: dict[str, Any] = {
        "stage": "schema",
        "level": "error",
        "message": "it is missing; fix: set it",
        "stack": "p5-cb",
        "file": ROOT / "Pulumi.p5-cb.yaml",
        "line": 20,
        "key": "trainyard:cluster.network.vpc_id",
        **values,
    }
    return Finding(rule=rule, **given)


def document(*findings: Finding, succeeded: bool = True, **rules: RuleText) -> dict[str, Any]:
    texts = {name.replace("_", "-"): text for name, text in rules.items()}
    run = Run(category="check", findings=findings, succeeded=succeeded, root=ROOT, rules=texts)
    return sarif(run)


def run_of(*findings: Finding, **rules: RuleText) -> dict[str, Any]:
    (run,) = document(*findings, **rules)["runs"]
    return run


def test_the_document_names_its_version_schema_and_tool() -> None:
    """3.13.2, 3.13.3, 3.14.6, 3.19.8: `version`, `$schema`, `tool`, the driver's `name`."""
    found = document(finding())
    assert found["version"] == "2.1.0"
    assert found["$schema"].endswith("/sarif-2.1.0.json")
    assert found["runs"][0]["tool"]["driver"]["name"] == "trainyard"


def test_a_run_without_findings_says_that_there_are_none() -> None:
    """3.14.23: an empty `results` means a run without findings; a missing one, no scan."""
    assert run_of()["results"] == []


def test_every_result_points_at_its_rule_by_id_and_index() -> None:
    """3.27.5, 3.27.6: both name the same descriptor."""
    run = run_of(finding("a"), finding("b"), finding("a"))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["a", "b"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_result_has_level_words_file_and_line() -> None:
    """3.27.10, 3.27.11, 3.28: `level`, `message`, `locations`."""
    (result,) = run_of(finding())["results"]
    assert result["level"] == "error"
    assert result["message"] == {"text": "it is missing; fix: set it"}
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "Pulumi.p5-cb.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 20},
    }
    assert location["logicalLocations"] == [
        {"fullyQualifiedName": "trainyard:cluster.network.vpc_id", "kind": "member"}
    ]


def test_a_file_outside_of_the_checkout_is_named_by_its_whole_address() -> None:
    (result,) = run_of(finding(file=Path("/srv/other/Pulumi.c.yaml")))["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {
        "uri": "file:///srv/other/Pulumi.c.yaml"
    }


def test_a_violation_names_its_resource_and_severity() -> None:
    urn = "urn:pulumi:s::p::aws:ec2/launchTemplate:LaunchTemplate::t"
    violated = finding("ebs-encrypted", stage="policy", severity="high", key="", resource=urn)
    (result,) = run_of(violated)["results"]
    (location,) = result["locations"]
    assert location["logicalLocations"] == [{"fullyQualifiedName": urn, "kind": "resource"}]
    assert result["properties"] == {"stack": "p5-cb", "stage": "policy", "severity": "high"}


def test_a_suppressed_violation_says_so() -> None:
    """3.27.23, 3.35: `suppressions` with `kind` and `justification`."""
    (result,) = run_of(finding(suppressed="until 2030-01-01"))["results"]
    assert result["suppressions"] == [{"kind": "external", "justification": "until 2030-01-01"}]


def test_every_rule_has_the_three_texts_that_github_demands() -> None:
    text = RuleText(summary="It is encrypted.", why="Data.", fix="Encrypt.", url="https://a.b/c")
    run = run_of(
        finding("ebs-encrypted"),
        finding("plan/network.cidr"),
        finding("engine/error"),
        finding("of-another-pack"),
        ebs_encrypted=text,
    )
    for rule in run["tool"]["driver"]["rules"]:
        for key in ("shortDescription", "fullDescription", "help"):
            assert rule[key]["text"]


def test_a_rule_of_the_pack_has_its_own_words_and_page() -> None:
    text = RuleText(
        summary="It is encrypted.", why="Data.", fix="Encrypt.", url="https://a.b/c", tags=("E16",)
    )
    (rule,) = run_of(finding("ebs-encrypted"), ebs_encrypted=text)["tool"]["driver"]["rules"]
    assert rule["shortDescription"] == {"text": "It is encrypted."}
    assert rule["help"]["markdown"] == "Data.\n\n**Fix.** Encrypt."
    assert rule["helpUri"] == "https://a.b/c"
    assert rule["properties"] == {"tags": ["E16"]}


def test_a_run_that_could_not_do_its_work_says_so() -> None:
    """3.20.14: `executionSuccessful`."""
    (run,) = document(succeeded=False)["runs"]
    assert run["invocations"] == [{"executionSuccessful": False}]


def test_what_only_has_to_be_read_asks_for_no_fix() -> None:
    (rule,) = run_of(finding("plan/note", level="note"))["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "What the plan of a stack wants its reader to know."
    assert "Nothing has to change" in rule["help"]["text"]
