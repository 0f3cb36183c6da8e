"""The result of `check` for one stack file, and its output formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from trainyard.cli import console, failures
from trainyard.findings.finding import failure_finding, problem_findings, remark_findings
from trainyard.stack_files.stack_files import StackFile
from trainyard.stack_files.stacks_directory import stacks_directory

if TYPE_CHECKING:
    from trainyard.components.architectures.preflight import Preflight
    from trainyard.components.config.problems import ConfigError
    from trainyard.findings.finding import Finding, Stage
    from trainyard.findings.sarif import RuleText


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """Whether a stack file passed, or which stage rejected it."""

    stack_file: StackFile
    error: ConfigError | None = None
    stage: Stage = "schema"
    """The stage that rejected the file; undefined if there is no error."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    preflight: Preflight | None = None
    """The preflight result, if the account was queried."""
    failure: str = ""
    """Why the file could not be judged, such as YAML that cannot be read or no credentials."""
    exit_code: int = failures.WRONG_USE
    """The exit code if it did not pass."""

    @property
    def ok(self) -> bool:
        """Whether the stack can be deployed."""
        return self.error is None and not self.failure

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        if self.failure:
            return self._failure_as_json()
        if self.error is None:
            notes, warnings = list(self.notes), list(self.warnings)
            return {
                "stack": self.stack_file.stack,
                "ok": True,
                "notes": notes,
                "warnings": warnings,
                **self._preflight_as_json(),
            }
        problems = [
            {
                "rule": finding.rule,
                "stage": finding.stage,
                "path": problem.path,
                "line": finding.line,
                "problem": problem.problem,
                "found": problem.found,
                "allowed": problem.allowed,
                "fix": problem.remedy,
            }
            for problem, finding in zip(self.error.problems, self._refusals(), strict=True)
        ]
        stack = self.stack_file.stack
        return {
            "stack": stack,
            "ok": False,
            "problems": problems,
            "text": str(self.error),
            **self._preflight_as_json(),
        }

    def _failure_as_json(self) -> dict[str, Any]:
        (finding,) = self._refusals()
        problem = {
            "rule": finding.rule,
            "stage": finding.stage,
            "path": "",
            "line": finding.line,
            "problem": self.failure,
            "found": None,
            "allowed": None,
            "fix": "correct what the message names, and run the command again",
        }
        stack = self.stack_file.stack
        return {"stack": stack, "ok": False, "problems": [problem], "text": self.failure}

    def _preflight_as_json(self) -> dict[str, Any]:
        found = self.preflight
        if found is None:
            return {}
        return {
            "account": found.account_id,
            "caller": found.caller_arn,
            "region": found.region,
            "checks": [row.as_json() for row in found.rows],
        }

    def findings(self) -> list[Finding]:
        """Return all findings about the file."""
        remarks = remark_findings(self.stack_file, notes=self.notes, warnings=self.warnings)
        return [*self._refusals(), *remarks]

    def _refusals(self) -> list[Finding]:
        if self.failure:
            file = self.stack_file
            rule = "unreadable" if self.stage == "schema" else "unreachable"
            stack, path = file.stack, file.path
            return [
                failure_finding(self.failure, rule=rule, stage=self.stage, stack=stack, file=path)
            ]
        if self.error is None:
            return []
        return problem_findings(self.error, self.stack_file, self.stage)

    def show(self) -> None:
        """Print the result as text."""
        counts = ""
        if self.preflight is not None:
            from trainyard.checks.preflight_table import counted, print_preflight

            print_preflight(self.stack_file.stack, self.preflight)
            counts = f" ({counted(self.preflight)})"
        if self.error is not None or self.failure:
            console.problem(self.failure or str(self.error))
            return
        console.answer(f"{self.stack_file.stack}: ok{counts}")
        for note in self.notes:
            console.note(f"  note: {note}")
        if self.preflight is None:  # otherwise they are in its rows
            for warning in self.warnings:
                console.note(f"  warning: {warning}")


def failed(stack_file: StackFile, error: BaseException, *, stage: Stage) -> CheckResult:
    """Return the result for a file that could not be judged because of a user-facing error."""
    from trainyard.cli.user_errors import exit_code_of, message_of

    exit_code = exit_code_of(error)
    assert exit_code is not None  # noqa: S101 - other errors are bugs and are not answered
    message = message_of(error)
    return CheckResult(stack_file=stack_file, failure=message, stage=stage, exit_code=exit_code)


def answer_results(results: Sequence[CheckResult], *, as_json: bool, as_sarif: bool) -> None:
    """Write all results to standard output in the requested format."""
    if as_sarif:
        stacks = [result.stack_file.stack for result in results]
        category = f"check/{stacks[0]}" if len(stacks) == 1 else "check"
        answer_sarif(category, [f for result in results for f in result.findings()])
    elif as_json:
        console.answer_json([result.as_json() for result in results])
    else:
        for result in results:
            result.show()


def answer_sarif(
    category: str,
    findings: Sequence[Finding],
    *,
    succeeded: bool = True,
    rules: Mapping[str, RuleText] = MappingProxyType({}),
    directory: Path | None = None,
) -> None:
    """Write findings to standard output as one SARIF document.

    Args:
        category: What was checked.
        findings: What was found.
        succeeded: Whether the command could check it.
        rules: Texts of the rules that findings name.
        directory: A directory of the repository with the files; by default that of stack files.
    """
    from trainyard.findings.sarif import Run, sarif

    run = Run(
        category=category,
        findings=findings,
        succeeded=succeeded,
        root=_repository(directory or stacks_directory()),
        rules=rules,
    )
    console.answer_json(sarif(run))


def _repository(directory: Path) -> Path:
    """Return the root of the git repository of a directory; without one, the directory.

    Code scanning reads relative paths from the root of the repository.
    """
    parents = (directory, *directory.parents)
    return next((each for each in parents if (each / ".git").exists()), directory)


def refuse_two_forms(*, as_json: bool, as_sarif: bool) -> None:
    """Raise an error if two documents are requested on standard output.

    Raises:
        WrongUseError: both formats are requested.
    """
    if as_json and as_sarif:
        raise failures.WrongUseError(
            "--json and --sarif are alternative output formats; choose one"
        )
