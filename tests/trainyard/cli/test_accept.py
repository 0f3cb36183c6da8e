"""`accept`: what it refuses, and in which order its steps run."""

from __future__ import annotations

import dataclasses
import errno
import json
import platform
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import BotoCoreError, EndpointConnectionError

from tests.support import vpcs
from tests.support.accepted_report import make
from tests.support.tracked import ROOT
from tests.trainyard.cli.conftest import COMPLETE
from trainyard.acceptance.assumptions import catalogue
from trainyard.acceptance.remains import MadeObject
from trainyard.acceptance.run import InterruptedRunError
from trainyard.acceptance.stack_files import accepted_content
from trainyard.acceptance.steps import Done, Result, Step, read_record
from trainyard.cli import failures
from trainyard.commands.deployment import accept
from trainyard.commands.deployment.accept import AcceptedStack
from trainyard.components import clock
from trainyard.components.eks.label_plan import UNVERIFIED
from trainyard.schedulers.registry import scheduler_class
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.stack_files.stacks_directory import VARIABLE, create
from trainyard.workspace.accounts import target_of
from trainyard.workspace.target import Target


def test_a_stack_with_protected_objects_is_refused(trainyard, tmp_path: Path) -> None:
    output = tmp_path / "accept"
    result = trainyard("accept", "vpc-one-az", "--sandbox", "--output", output)
    assert result.exit_code == failures.WRONG_USE
    assert "set architecture.deletion_protection to false" in result.stderr
    assert not output.exists()


def test_a_stack_that_adopts_a_vpc_is_refused(trainyard, tmp_path: Path, stacks: Path) -> None:
    file = find_stack_file("vpc-one-az")
    cluster = {**file.cluster, "name": "adopted", "network": vpcs.network()}
    config = {**file.config, "trainyard:cluster": cluster}
    (stacks / "Pulumi.adopted.yaml").write_text(json.dumps({"config": config}))
    result = trainyard("accept", "adopted", "--sandbox", "--output", tmp_path / "accept")
    assert result.exit_code == failures.WRONG_USE
    assert "without network.adopt" in result.stderr


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the user's stack files."""
    directory = tmp_path / "stacks"
    create(directory)
    monkeypatch.setenv(VARIABLE, str(directory))
    return directory


@dataclass
class Account:
    """An account in which nothing is deployed, and steps that end as the test wants."""

    is_deployed: bool = False
    results: dict[str, Result] = field(default_factory=dict)
    broken: dict[str, BaseException] = field(default_factory=dict)
    """What the steps raise."""
    ran: list[tuple[str, bool]] = field(default_factory=list)
    """The steps, and whether their time is unlimited."""
    ends: list[datetime | None] = field(default_factory=list)
    paused: list[float] = field(default_factory=list)
    pause: Callable[[float], None] = lambda _: None
    lost: BotoCoreError | None = None
    """What it raises when it is asked once more than it has answers."""
    made: list[MadeObject] = field(default_factory=list)
    """What is in its state."""
    looked_for: list[str] = field(default_factory=list)
    """What was looked for last."""
    objects: list[list[str]] = field(default_factory=lambda: [["vpc-1"], ["vpc-1"]])
    """What it has, each time it is asked."""

    def __call__(self, target: Target) -> AcceptedStack:
        return Accepted(target, self)


@dataclass(frozen=True)
class Accepted(AcceptedStack):
    account: Account

    def is_deployed(self) -> bool:
        return self.account.is_deployed

    def made(self) -> list[MadeObject]:
        return self.account.made

    def node(self) -> str:
        return "ip-10-0-0-1.us-west-2.compute.internal"

    def remains(self, made: Iterable[MadeObject]) -> list[str]:
        self.account.looked_for = [each.urn for each in made]
        if not self.account.objects and self.account.lost:
            raise self.account.lost
        return self.account.objects.pop(0)

    def pause(self, seconds: float) -> None:
        self.account.paused.append(seconds)
        self.account.pause(seconds)

    def run(self, step: Step, directory: Path, ends: datetime | None) -> Done:
        self.account.ran.append((step.name, ends is None))
        self.account.ends.append(ends)
        if step.name in self.account.broken:
            raise self.account.broken[step.name]
        result = self.account.results.get(step.name, "pass")
        reason = "" if result == "pass" else "x"
        return Done(name=step.name, result=result, seconds=1.0, reason=reason)


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
def accepted(trainyard, tmp_path: Path, account: Account) -> Callable[..., Any]:
    return lambda *more: trainyard(
        "accept", "dev", "--output", tmp_path / "a", *more, deployed=account
    )


DEV_USD = 4.6104 + (0.14 * 1200 + 3) / 730
"""An hour of `dev` with a file system of 1200 GiB and a dashboard (docs/cost.md).
https://aws.amazon.com/fsx/lustre/pricing/, https://aws.amazon.com/cloudwatch/pricing/"""
STEPS = (
    *("check", "up", "up again", "refresh", "test", "repair", "run", "resume", "status", "change"),
    *("diagnose", "destroy"),
)


def names(account: Account) -> list[str]:
    return [name for name, _ in account.ran]


def test_a_deployed_stack_is_refused(account: Account, accepted) -> None:
    account.is_deployed = True
    result = accepted("--yes")
    assert result.exit_code == failures.WRONG_USE
    assert "dev is deployed, and an acceptance ends with its deletion" in result.stderr
    assert not account.ran


def test_nothing_is_deployed_without_consent(account: Account, accepted) -> None:
    result = accepted()
    assert result.exit_code != 0
    assert not account.ran


def test_nothing_is_deployed_in_an_account_that_does_not_answer(account: Account, accepted) -> None:
    account.objects = []
    account.lost = EndpointConnectionError(endpoint_url="https://tagging.example")
    done = accepted("--yes")
    assert done.exit_code == failures.WORK_FAILED
    assert "tag:GetResources" in done.stderr
    assert "nothing was deployed" in done.stderr
    assert not account.ran


def test_files_that_cannot_be_written_end_it_before_anything_is_deployed(
    account: Account, accepted, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("", encoding="utf-8")
    done = accepted("--yes")
    assert done.exit_code == failures.WRONG_USE
    assert f"{tmp_path}/a is not a directory" in done.stderr
    assert not account.ran


def test_every_step_runs_in_order(account: Account, accepted, tmp_path: Path) -> None:
    result = accepted("--yes")
    assert result.exit_code == 0, result.stderr
    assert "dev: accepted after" in result.stdout
    assert names(account) == [*STEPS]
    # The deletion has no time limit.
    assert [name for name, unlimited in account.ran if unlimited] == ["diagnose", "destroy"]
    assert (tmp_path / "a" / "report.html").is_file()
    own, changed = (
        yaml.safe_load((tmp_path / "a" / name).read_text("utf-8"))["config"]["trainyard:cluster"]
        for name in ("stack.yaml", "changed.yaml")
    )
    assert own["storage"]["acceptance"]["kind"] == "fsx-lustre"
    maxima = [each["architecture"]["system_node_group"]["maximum"] for each in (own, changed)]
    assert maxima == [1, 2]


def test_what_it_proves_takes_and_costs_is_said_before_it_begins(
    account: Account, accepted
) -> None:
    said = " ".join(accepted().output.split())
    assert "check 1 min" in said
    assert "destroy" in said
    assert "FSx for Lustre, 1200 GiB" in said
    assert re.search(r"together \d+ min +\d+\.\d\d USD at 4\.84 USD an hour", said)
    assert not account.ran


@pytest.mark.parametrize(
    ("name", "result", "ran"),
    [
        ("check", "fail", ["check"]),
        ("up", "fail", ["check", "up", "diagnose", "destroy"]),
        ("up", "stopped", ["check", "up", "diagnose", "destroy"]),
        ("test", "stopped", ["check", "up", "up again", "refresh", "test", "diagnose", "destroy"]),
    ],
)
def test_what_was_made_is_deleted_after_a_failure_or_the_limit(
    account: Account, accepted, name: str, result: str, ran: list[str]
) -> None:
    account.results[name] = result
    done = accepted("--yes")
    assert done.exit_code == failures.WORK_FAILED
    assert f"{result}: {name}: x" in done.stdout
    assert names(account) == ran


@pytest.mark.parametrize(
    ("stack", "figure"),
    [
        ("dev", "GPU utilization"),
        ("pc-dev", "GPU utilization"),
        ("batch-dev", "GPU utilization"),
        ("eks-trn1", "NeuronCore utilization"),
        # Its agent measures no NeuronCores outside of Kubernetes.
        ("batch-trn1", "Memory of nodes"),
    ],
)
def test_a_figure_of_the_nodes_must_be_read_back(stack: str, figure: str) -> None:
    found = find_stack_file(stack)
    content = accepted_content(found.content, scheduler_class(found))
    own = completed(dataclasses.replace(found, content=content), sandbox_completion(found))
    assert accept._subject(target_of(own, sandbox=False), Path("/d")).figure == figure
    assert not accept._subject(target_of(own, sandbox=True), Path("/d")).figure


def test_an_acceptance_goes_on_without_the_file_of_the_user(
    account: Account, accepted, interrupted, stacks: Path
) -> None:
    """So that it can always be deleted."""
    interrupted(ran=3)
    (stacks / "Pulumi.dev.yaml").write_text("config: {", encoding="utf-8")
    assert accepted().exit_code == 0
    assert names(account) == [*STEPS[3:]]


@pytest.mark.parametrize("required", [True, False])
def test_the_test_of_the_sandbox_runs_on_nodes_that_must_pass_verify(
    trainyard, stack_file, required: bool
) -> None:
    """No step before it opens them: the sandbox has no log that `verify` could judge."""
    path = stack_file({**COMPLETE, "verification": {"required": required}})
    found = find_stack_file("p5-cb", path=path)
    command = accept._subject(target_of(found, sandbox=True), Path("/d")).test
    assert command == ("job", "nccl-tests", "--submit", "--wait")
    printed = trainyard("job", "p5-cb", "nccl-tests", "--stack-file", path)
    *_, job = yaml.safe_load_all(printed.stdout)
    tolerated = {each["key"] for each in job["spec"]["template"]["spec"]["tolerations"]}
    assert tolerated == ({UNVERIFIED.key} if required else set())
    assert accept._subject(target_of(found, sandbox=False), Path("/d")).test == ("verify",)


@pytest.mark.parametrize("stack", ["dev", "pc-dev", "batch-dev"])
def test_the_cheapest_stacks_are_complete_and_go_completely(stack: str) -> None:
    """Without values of the sandbox, as in an account: nothing is missing, nothing is kept."""
    found = find_stack_file(stack)
    accept._refuse_protected(found)
    assert accept._subject(target_of(found, sandbox=False), Path("/d")).test == ("verify",)


@pytest.mark.parametrize("packaged", [True, False])
def test_the_test_of_slurm_in_the_sandbox_is_a_program_on_all_nodes(
    trainyard, monkeypatch: pytest.MonkeyPatch, packaged: bool
) -> None:
    """Where Slurm cannot be had, there is none."""
    monkeypatch.setattr(platform, "system", lambda: "Linux" if packaged else "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    found = find_stack_file("pc-trn1")
    assert accept._subject(target_of(found, sandbox=False), Path("/d")).test == ("verify",)
    command = accept._subject(target_of(found, sandbox=True), Path("/d")).test
    if not packaged:
        assert command == ()
        return
    printed = trainyard("run", "pc-trn1", "--dry-run", *command[1:])
    assert printed.exit_code == 0, printed.stderr
    assert "#SBATCH --nodes=2" in printed.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--max-usd", "5"), "cost up to 16.96 USD, above 5.00 USD; set --max-usd 16.96, or "),
        (("--max-usd", "5"), "or --limit-minutes 31"),
        (("--max-usd", "1"), "above 1.00 USD; set --max-usd 16.96\n"),
        (("--max-usd", "5", "--limit-minutes", "32"), "--limit-minutes 31"),
    ],
)
def test_an_acceptance_that_can_cost_more_is_refused(
    account: Account, accepted, options: tuple[str, ...], said: str
) -> None:
    result = accepted("--yes", *options)
    assert result.exit_code == failures.WRONG_USE
    assert said in result.stderr
    assert not account.ran


def test_within_the_limit_of_money_the_time_is_the_limit(account: Account, accepted) -> None:
    result = accepted("--yes", "--max-usd", "5", "--limit-minutes", "31")
    assert result.exit_code == 0, result.stderr
    latest = clock.now() + timedelta(minutes=31)
    assert account.ends[0] is not None
    assert all(ends is None or ends <= latest for ends in account.ends)


def test_unknown_prices_cannot_be_limited(account: Account, accepted, stacks: Path) -> None:
    # The snapshot has no prices of this region.
    elsewhere = find_stack_file("dev").path.read_text().replace("us-west-2", "eu-west-1")
    (stacks / "Pulumi.dev.yaml").write_text(elsewhere)
    result = accepted("--yes", "--max-usd", "1000")
    assert result.exit_code == failures.WRONG_USE
    assert "the prices of architecture.system_node_group" in result.stderr
    assert "--limit-minutes" in result.stderr
    assert not account.ran


def test_the_money_counts_from_the_first_step_also_after_an_interruption(
    account: Account, accepted, tmp_path: Path
) -> None:
    accepted("--yes", "--max-usd", "20")
    record = read_record(tmp_path / "a")
    assert record is not None
    record.done = record.done[:3]
    began = clock.now() - timedelta(hours=3)
    record.began = began.isoformat()
    record.save()
    account.ends.clear()
    account.objects = [["vpc-1"]]
    # 20 USD are 4.13 hours of dev, of which half an hour is for the deletion.
    assert accepted("--max-usd", "20", "--limit-minutes", "300").exit_code == 0
    assert account.ends[0] is not None
    lasts = (account.ends[0] - began).total_seconds()
    assert lasts == pytest.approx((20 / DEV_USD - 0.5) * 3600, abs=1)


def test_the_time_counts_from_the_first_step_also_after_an_interruption(
    account: Account, accepted, interrupted
) -> None:
    """Neither a machine that sleeps nor a second run gives the stack more time."""
    interrupted(ran=2, hours_ago=2)
    assert accepted("--limit-minutes", "180").exit_code == 0
    assert account.ends[0] is not None
    assert (account.ends[0] - clock.now()).total_seconds() == pytest.approx(3600, abs=60)
    interrupted(ran=2, hours_ago=4)
    done = accepted("--limit-minutes", "180")
    assert names(account) == ["diagnose", "destroy"]
    assert "stopped: up again: the time limit was reached" in done.stdout


@pytest.fixture
def interrupted(account: Account, accepted, tmp_path: Path) -> Callable[..., None]:
    """Leave an acceptance as it is after its first steps."""

    def leave(*, ran: int, hours_ago: float = 0) -> None:
        account.objects = [["vpc-1"]]
        directory = tmp_path / "a"
        if not directory.exists():
            accepted("--yes")
        record = read_record(directory)
        assert record is not None
        record.done = [Done(name=n, result="pass", seconds=1, reason="") for n in STEPS[:ran]]
        record.began = (clock.now() - timedelta(hours=hours_ago)).isoformat()
        record.save()
        account.ran.clear()
        account.ends.clear()
        account.objects = [["vpc-1"]]

    return leave


def test_a_deletion_that_failed_is_tried_again_now_and_by_the_next_command(
    account: Account, accepted
) -> None:
    """Such as without a connection."""
    account.results["destroy"] = "fail"
    done = accepted("--yes")
    assert done.exit_code == failures.WORK_FAILED
    assert names(account)[-3:] == ["destroy"] * 3
    assert account.paused == [60.0, 60.0]
    assert "dev may exist, and AWS charges for it: run the same command again" in done.stdout
    account.results.clear()
    account.ran.clear()
    account.objects = [["vpc-1"]]
    done = accepted()
    assert names(account) == ["destroy"]
    assert done.exit_code == 0, done.stdout


def test_a_stack_that_was_deleted_is_not_made_again(account: Account, accepted) -> None:
    account.results["up"] = "stopped"
    accepted("--yes", "--limit-minutes", "10")
    account.ran.clear()
    account.results.clear()
    account.objects = [["vpc-1"]]
    accepted("--limit-minutes", "500")
    assert not account.ran


@pytest.mark.parametrize("step", ["up", "refresh", "change", "diagnose"])
def test_a_full_disk_does_not_prevent_the_deletion(
    account: Account, accepted, tmp_path: Path, step: str
) -> None:
    account.broken[step] = OSError(errno.ENOSPC, "No space left on device")
    done = accepted("--yes")
    assert done.exit_code == failures.WORK_FAILED
    assert names(account)[-1] == "destroy"
    assert f"fail: {step}: exit code 1: error: [Errno 28] No space left on device" in done.stdout


def test_an_interrupted_acceptance_says_that_the_stack_may_exist_and_goes_on(
    account: Account, accepted
) -> None:
    account.broken["up"] = InterruptedRunError()
    done = accepted("--yes")
    assert done.exit_code == failures.CANCELLED
    assert "dev may exist, and AWS charges for it; run the same command again" in done.stderr
    account.broken.clear()
    account.ran.clear()
    account.objects = [["vpc-1"]]
    assert accepted().exit_code == 0
    assert names(account) == [*STEPS[1:]]


def test_an_account_that_does_not_say_what_is_left_has_not_accepted(
    account: Account, accepted
) -> None:
    account.objects = [["vpc-1"]]
    account.lost = EndpointConnectionError(endpoint_url="https://tagging.example")
    done = accepted("--yes")
    assert done.exit_code == failures.WORK_FAILED
    assert "stopped: remains: the account did not say what is left" in done.stdout
    account.objects = [["vpc-1"]]
    account.ran.clear()
    assert accepted().exit_code == 0
    assert not account.ran


def test_what_is_left_behind_fails_the_acceptance(
    account: Account, accepted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It contradicts what is assumed of AWS, which removes the interfaces of a cluster."""
    left = "arn:aws:ec2:us-west-2:123456789012:network-interface/eni-2"
    account.objects = [["vpc-1"], ["vpc-1", left]]
    passed: list[float] = []

    def pause(seconds: float) -> None:
        passed.append(seconds)
        account.objects.append(["vpc-1", left])
        monkeypatch.setenv(clock.VARIABLE, str(sum(passed)))

    account.pause = pause
    done = accepted("--yes")
    assert done.exit_code == failures.WORK_FAILED
    assert f"left behind: {left}" in done.stdout
    assert sum(passed) == 600
    report = json.loads((tmp_path / "a" / "report.json").read_text(encoding="utf-8"))
    judged = {each["id"]: (each["verdict"], each["evidence"]) for each in report["assumptions"]}
    masked = left.replace("123456789012", "ACCOUNT")
    assert judged["cni-removes-interfaces"] == ("contradicted", masked)
    assert judged["roles-are-deleted"][0] == "not seen"


def test_what_aws_removes_a_while_later_is_not_left_behind(account: Account, accepted) -> None:
    account.objects = [["vpc-1"], ["vpc-1", "eni-2"], ["vpc-1"]]
    done = accepted("--yes")
    assert done.exit_code == 0, done.stdout
    assert account.paused == [30.0]


def test_what_the_state_had_before_the_deletion_is_looked_for_after_it(
    account: Account, accepted, tmp_path: Path
) -> None:
    """Also by the run after one whose deletion failed half-way."""
    account.made = [MadeObject("urn:1", "1", {"name": "a"}), MadeObject("urn:2", "2", {})]
    account.results["destroy"] = "fail"
    accepted("--yes")
    assert account.looked_for == ["urn:1", "urn:2"]
    account.made = [MadeObject("urn:2", "2", {})]
    account.results.clear()
    account.objects = [["vpc-1"]]
    assert accepted().exit_code == 0
    assert account.looked_for == ["urn:1", "urn:2"]
    assert (tmp_path / "a" / "acceptance.json").stat().st_mode & 0o077 == 0


def test_without_a_stack_the_command_says_how_to_name_one(trainyard) -> None:
    result = trainyard("accept", "--yes")
    assert result.exit_code == failures.WRONG_USE
    assert "the name of a stack is missing: ./trainyard accept STACK" in result.stderr


def test_the_report_says_of_every_assumption_what_was_seen(
    account: Account, accepted, tmp_path: Path
) -> None:
    account.results["status"] = "fail"
    accepted("--yes")
    report = json.loads((tmp_path / "a" / "report.json").read_text("utf-8"))
    judged = {each["id"]: each for each in report["assumptions"]}
    assert judged.keys() == {each.id for each in catalogue()}
    steps = {each["step"] for each in judged.values() if each["verdict"] == "confirmed"}
    assert {"refresh", "remains"} <= steps
    assert "status" not in steps


def test_a_report_is_checked_without_a_stack(
    account: Account, accepted, trainyard, tmp_path
) -> None:
    """These steps have neither logs nor times, so that they prove nothing."""
    accepted("--yes")
    report = tmp_path / "a" / "report.json"
    result = trainyard("accept", "--check-report", report)
    assert result.exit_code == failures.WORK_FAILED
    assert "wrong: up has no begin or no end" in result.stdout
    assert "not checked: up: it has no log" in result.stdout
    assert result.stdout.endswith(
        "a report of dev on AWS: accepted, but the report does not prove it\n"
    )
    result = trainyard("accept", "dev", "--check-report", report)
    assert result.exit_code == failures.WRONG_USE
    assert "leave out dev" in result.stderr


@pytest.mark.parametrize("sandbox", [True, False])
def test_a_report_that_holds_is_one_of_its_account_only(
    trainyard, tmp_path: Path, sandbox: bool
) -> None:
    report = make(tmp_path, sandbox=sandbox)
    right, wrong = (("--sandbox",), ()) if sandbox else ((), ("--sandbox",))
    result = trainyard("accept", "--check-report", report, *right)
    assert result.exit_code == 0, result.stdout
    named = "the sandbox, which is emulated: it proves nothing about AWS" if sandbox else "AWS"
    assert result.stdout == f"a report of dev on {named}: accepted\n"
    result = trainyard("accept", "--check-report", report, *wrong)
    assert result.exit_code == failures.WORK_FAILED
    assert result.stdout.endswith("with --sandbox\n" if sandbox else "without --sandbox\n")


def test_a_report_of_an_acceptance_that_did_not_pass_proves_none(
    account: Account, accepted, trainyard, tmp_path: Path
) -> None:
    account.results["test"] = "fail"
    accepted("--yes")
    result = trainyard("accept", "--check-report", tmp_path / "a" / "report.json")
    assert result.exit_code == failures.WORK_FAILED
    assert "a report of dev on AWS: not accepted" in result.stdout


@pytest.mark.parametrize("content", ["", "[]", "{", '{"form": 2, "stack": "\\u001b[31m\\ud800"}'])
def test_a_file_that_is_no_report_is_an_error_for_people(
    trainyard, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "x\x1b[31m.json"
    path.write_text(content, encoding="utf-8")
    result = trainyard("accept", "--check-report", path)
    assert result.exit_code == failures.WORK_FAILED
    assert isinstance(result.exception, SystemExit)
    assert result.stdout.startswith("wrong: ")
    assert result.stdout.endswith("this is no report of an acceptance that can be checked\n")
    assert "\x1b" not in result.stdout


def test_the_document_has_the_times_and_costs_that_are_said(trainyard, tmp_path: Path) -> None:
    document = (ROOT / "docs/acceptance.md").read_text("utf-8")
    table = document.partition("<!-- times -->\n")[2].partition("\n<!-- /times -->")[0]
    header, _, *rows = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()
    )
    for column, stack in enumerate(header[1:], start=1):
        accept = ("accept", stack.strip("`"), "--output", tmp_path / stack)
        said = trainyard(*accept, deployed=Account())
        announced = re.findall(r"^  (\S.*?) +(\d+) min +(\d+\.\d\d) USD", said.output, re.MULTILINE)
        shown = [(row[0], row[column]) for row in rows if row[column]]
        assert shown == [(name, f"{minutes} min, {usd} USD") for name, minutes, usd in announced]
