"""The reference of the policy pack matches the rules."""

from __future__ import annotations

from tools.policies import __main__ as command
from tools.policies.reference import reference
from trainyard.policies.pack.discovery import POLICIES


def test_the_committed_reference_is_current():
    assert (command.FOLDER / "policies.md").read_text(encoding="utf-8") == reference()
    assert command.main(["--check"]) == 0


def test_every_rule_has_a_row_and_a_section_with_its_fix():
    text = reference()
    for policy in POLICIES:
        assert f"| [{policy.name}](#{policy.name}) |" in text
        section = text.partition(f"## {policy.name}\n")[2].partition("\n## ")[0]
        assert "**Why.** " in section
        assert "**Fix.** " in section
        assert policy.url in section


def test_an_old_document_is_noticed_and_written_anew(tmp_path, capsys):
    assert command.main(["--check"], tmp_path) == 1
    said = capsys.readouterr().err
    for name in ("policies.md", "rules.md"):
        assert f"docs/{name} is out of date; run python -m tools.policies" in said
    assert command.main([], tmp_path) == 0
    assert command.main(["--check"], tmp_path) == 0
