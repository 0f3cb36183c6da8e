"""`run`: options, what is printed with `--dry-run`, and what is submitted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.batch import TRN1
from tests.support.eks import OTHER_RESERVATION, changed
from tests.support.parallelcluster import raw_p4de
from tests.support.recorded_stack import RecordedStack
from tests.support.sandbox_aws import BLOCK, Account, default_account
from tests.support.sandbox_here import running_sandbox
from tests.support.stack_files import AMI, RESERVATION, raw_config
from tests.support.tracked import ROOT
from tests.trainyard.cli.conftest import COMPLETE
from trainyard.cli import failures
from trainyard.components import clock
from trainyard.sandboxes.session import advance_clock

IMAGE = ("--image", "pytorch/pytorch:2.11.0")


def test_a_manifest_is_printed_and_not_submitted(trainyard) -> None:
    result = trainyard(
        "run", "p5-cb", *IMAGE, "--env", "LR=1=2", "--dry-run", "--sandbox", "--", "train.py", "-x"
    )
    assert result.exit_code == 0, result.stderr
    service, job = yaml.safe_load_all(result.stdout)
    assert (service["kind"], job["kind"]) == ("Service", "Job")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"][-3:] == ["torchrun", "train.py", "-x"]
    assert {"name": "LR", "value": "1=2"} in container["env"]


def test_a_script_and_a_request_are_printed(trainyard) -> None:
    dry = ("--dry-run", "--sandbox", "--", "train.py")
    script = trainyard("run", "pc-gpu", "--nodes", "2", *dry).stdout
    assert "#SBATCH --nodes=2\n" in script
    request = json.loads(trainyard("run", "batch-p5", *dry).stdout)
    assert request["jobDefinition"] == "batch-p5-nccl-tests"


def test_options_and_the_command_override_the_job_file(trainyard, tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    text = "{name: llm, image: a, command: one.py, environment: {A: '1', B: '1'}, restarts: 1}"
    file.write_text(text, encoding="utf-8")
    dry = ("run", "p5-cb", "--file", str(file), "--dry-run", "--sandbox")
    _, job = yaml.safe_load_all(trainyard(*dry).stdout)
    assert (job["metadata"]["name"], job["spec"]["backoffLimitPerIndex"]) == ("llm", 1)
    more = ("--image", "b", "--env", "B=2", "--restarts", "0", "--", "two.py")
    _, job = yaml.safe_load_all(trainyard(*dry, *more).stdout)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    found = {each["name"]: each.get("value") for each in container["env"]}
    assert (found["A"], found["B"]) == ("1", "2")
    assert (container["image"], container["command"][-2:]) == ("b", ["torchrun", "two.py"])
    assert "backoffLimitPerIndex" not in job["spec"]


def test_files_are_read_beside_the_job_file(trainyard, tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text("{image: a, command: train.py, files: [train.py]}", encoding="utf-8")
    dry = ("run", "p5-cb", "--file", str(file), "--dry-run", "--sandbox")
    result = trainyard(*dry)
    assert result.exit_code == failures.WRONG_USE
    assert "`files` of" in result.stderr
    assert "train.py" in result.stderr
    (tmp_path / "train.py").write_text("print(1)\n", encoding="utf-8")
    _, files, _ = yaml.safe_load_all(trainyard(*dry).stdout)
    assert files["data"] == {"train.py": "print(1)\n"}


def test_a_link_out_of_the_directory_of_the_job_file_is_not_followed(
    trainyard, tmp_path: Path
) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "secret").write_text("planted", encoding="utf-8")
    (tmp_path / "job" / "link.py").symlink_to("../secret")
    file = tmp_path / "job" / "train.yaml"
    file.write_text("{image: a, command: link.py, files: [link.py]}", encoding="utf-8")
    for stack in ("p5-cb", "pc-gpu"):
        result = trainyard("run", stack, "--file", str(file), "--dry-run", "--sandbox")
        assert result.exit_code == failures.WRONG_USE
        assert "link.py is a link" in result.stderr
        assert "planted" not in result.output


def test_slurm_gets_the_program_of_the_working_directory(
    trainyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("print(1)\n", encoding="utf-8")
    path = str(ROOT / "Pulumi.pc-gpu.yaml")
    monkeypatch.chdir(tmp_path)
    run = ("run", "pc-gpu", "--sandbox", "--stack-file", path, "--dry-run", "--")
    result = trainyard(*run, "src/train.py", "--lr", "1")
    assert "the job takes src/train.py of this directory with it (9 bytes)" in result.stderr
    assert '\ncd "$SLURM_SUBMIT_DIR"\n' in result.stdout
    assert "torchrun src/train.py --lr 1" in result.stdout
    (tmp_path / "src" / "model.py").touch()
    (tmp_path / "src" / "train.py").write_text("import model\n", encoding="utf-8")
    result = trainyard(*run, "src/train.py")
    assert result.exit_code == failures.WRONG_USE
    assert "not src/model.py of this machine, which it imports" in result.stderr
    assert not result.stdout


def test_pods_have_the_program_of_their_image(
    trainyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").touch()
    path = str(ROOT / "Pulumi.p5-cb.yaml")
    monkeypatch.chdir(tmp_path)
    result = trainyard(
        "run", "p5-cb", "--sandbox", "--stack-file", path, *IMAGE, "--dry-run", "--", "train.py"
    )
    assert "train.py is also a file of this directory, which is not copied" in result.stderr
    assert "ConfigMap" not in result.stdout


SECRET_ARN = "arn:aws:secretsmanager:us-west-2:123456789012:secret:hf-AbCdEf"


def test_secrets_are_those_of_the_command_and_of_the_job_file(trainyard, tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    text = "{image: a, command: x, secrets: {HF_TOKEN: secret/hf/token, KEY: secret/hf/key}}"
    file.write_text(text, encoding="utf-8")
    more = ("--secret", "KEY=secret/other/key", "--dry-run", "--sandbox")
    result = trainyard("run", "p5-cb", "--file", str(file), *more)
    assert result.exit_code == 0, result.stderr
    _, job = yaml.safe_load_all(result.stdout)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    found = [each["valueFrom"] for each in container["env"] if each["name"] in ("HF_TOKEN", "KEY")]
    assert found == [
        {"secretKeyRef": {"name": "hf", "key": "token"}},
        {"secretKeyRef": {"name": "other", "key": "key"}},
    ]


def test_what_is_printed_of_a_secret_is_its_place(trainyard, stack_file) -> None:
    dry = ("--dry-run", "--sandbox", "--", "train.py")
    script = trainyard("run", "pc-gpu", "--secret", "HF_TOKEN=~/.secrets/hf", *dry).stdout
    assert "HF_TOKEN=$(secret_in ~/.secrets/hf)\nexport HF_TOKEN\n" in script
    key = "architecture__job_definitions__nccom-multi__secrets"
    path = stack_file(raw_config(TRN1, **{key: {"HF_TOKEN": SECRET_ARN}}))
    job = ("--definition", "nccom-multi", "--stack-file", path)
    result = trainyard("run", "batch-trn1", *job, "--secret", f"HF_TOKEN={SECRET_ARN}", *dry)
    assert result.exit_code == 0, result.stderr
    assert "HF_TOKEN" not in result.stdout
    assert f"HF_TOKEN is a secret of the job definition: {SECRET_ARN}" in result.stderr


@pytest.mark.parametrize("pasted", ["HF_TOKEN=correct-horse-battery", "HF_TOKEN=", "HF_TOKEN"])
def test_a_secret_on_the_command_line_is_refused_and_not_repeated(trainyard, pasted: str) -> None:
    result = trainyard("run", "p5-cb", *IMAGE, "--secret", pasted, "--dry-run", "--", "x")
    assert result.exit_code == failures.WRONG_USE
    assert "the secret HF_TOKEN has no place" in result.stderr
    assert "correct-horse" not in result.output


def test_a_plain_value_of_the_environment_that_looks_like_a_secret_is_told(
    trainyard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is part of the job, and not among the arguments of this process."""
    monkeypatch.setenv("HF_TOKEN", "hf_planted")
    monkeypatch.setenv("LR", "0.1")
    dry = ("run", "p5-cb", *IMAGE, "--dry-run", "--sandbox")
    result = trainyard(*dry, "--env", "HF_TOKEN", "--env", "LR", "--", "x")
    _, job = yaml.safe_load_all(result.stdout)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert {"name": "HF_TOKEN", "value": "hf_planted"} in container["env"]
    assert {"name": "LR", "value": "0.1"} in container["env"]
    assert "HF_TOKEN looks like a secret, and is a plain value of the job" in result.stderr
    assert "use --secret NAME=secret/SECRET/KEY instead" in result.stderr
    assert "LR looks" not in result.stderr
    assert "hf_planted" not in result.stderr
    file = tmp_path / "train.yaml"
    file.write_text("{command: x, environment: {WANDB_API_KEY: y}}", encoding="utf-8")
    result = trainyard(*dry, "--file", str(file))
    assert "WANDB_API_KEY looks like a secret" in result.stderr
    assert "looks like a secret" not in trainyard(*dry, "--env", "LR", "--", "x").stderr


def test_variables_of_a_file_follow_the_rules_of_the_scheduler(trainyard, tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text("{command: x, environment: {AWS_BATCH_X: '1'}}", encoding="utf-8")
    result = trainyard("run", "batch-p5", "--file", str(file), "--dry-run", "--sandbox")
    assert result.exit_code == failures.WRONG_USE
    assert "a name that does not begin with AWS_BATCH: AWS_BATCH_X\n" in result.stderr


def test_a_wrong_job_file_is_an_error_with_every_problem(trainyard, tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text("nodes: 0\ncomand: x\n", encoding="utf-8")
    result = trainyard("run", "p5-cb", "--file", str(file), "--sandbox")
    assert result.exit_code == failures.WRONG_USE
    assert "train.yaml: 2 problems; nothing was changed" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["p5-cb", "--sandbox", "--", "train.py"], "name one with --image"),
        (["p5-cb", *IMAGE, "--sandbox"], "there is no program to run"),
        (["p5-cb", "--image", "", "--", "train.py"], "the image '' is empty"),
        (["p5-cb", "--image", "ghcr.io/X/y:1", "--", "x"], "write ghcr.io/x/y:1"),
        (
            ["p5-cb", "--sandbox", "--image", "./x.sqsh", "--", "x"],
            "only Enroot on a Slurm cluster starts",
        ),
        (["pc-gpu", "--image", "x.sqsh", "--dry-run", "--", "x"], "./x.sqsh in the home directory"),
        (["pc-gpu", "--image", "podman://x", "--dry-run", "--", "x"], "of a daemon of one machine"),
        (["p5-cb", *IMAGE, "--queue", "q", "--", "train.py"], "is not a stack of ParallelCluster"),
        (["vpc-one-az", "--", "train.py"], "is a network, and has no nodes"),
        (["p5-cb", *IMAGE, "--env", "L R=1", "--", "x"], "in your environment: L R\n"),
        (["p5-cb", *IMAGE, "--env", "LR", "--", "train.py"], "your environment has no LR; export"),
        (["batch-p5", "--sandbox", "--env", "AWS_BATCH_X=1", "--", "x"], "begin with AWS_BATCH"),
        (["p5-cb", "--detach", "--wait-minutes", "1", "--", "x"], "does not apply with --detach"),
        (
            ["pc-gpu", "--sandbox", "--image", "a/b", "--", "train.py"],
            "the sandbox runs no containers; omit the image",
        ),
        (["p5-cb", *IMAGE, "--nodes", "9", "--sandbox", "--", "train.py"], "at most 2 nodes"),
    ],
)
def test_what_cannot_run_is_refused(trainyard, arguments: list[str], says: str) -> None:
    result = trainyard("run", *arguments)
    assert result.exit_code == failures.WRONG_USE
    assert says in result.stderr


END = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)


BEFORE_BLOCK_ENDS = timedelta(minutes=45)
"""From the end of the job: the nodes leave, and the program has five minutes."""


def limits_of(job: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the longest run of the pods of a job, and the time of their SIGTERM."""
    (container,) = job["spec"]["template"]["spec"]["containers"]
    found = {each["name"]: each.get("value") for each in container["env"]}
    return found.get("TIME_LIMIT_SECONDS"), found.get("STOP_TIME")


def until_before(end: datetime) -> tuple[str, str]:
    """Return these limits of a job that is submitted ten hours before the end of its block."""
    return str((600 - 45) * 60), str(int((end - BEFORE_BLOCK_ENDS).timestamp()))


@pytest.fixture
def account(trainyard) -> Iterator[Account]:
    """The emulated account, whose Capacity Block `BLOCK` is that of the stack."""
    with default_account() as account:
        yield account


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch):
    """Set the time of the account, to within half a minute."""

    def move(moment: datetime) -> None:
        ahead = moment - timedelta(seconds=30) - datetime.now(UTC)
        monkeypatch.setenv(clock.VARIABLE, str(ahead.total_seconds()))

    return move


def test_the_limit_of_a_job_is_read_from_the_block(
    trainyard, stack_file, account: Account, at
) -> None:
    deployed = RecordedStack()
    path = stack_file(COMPLETE)
    arguments = ("run", "p5-cb", *IMAGE, "--stack-file", path, "--", "train.py")
    end = account.reservation(BLOCK)["EndDate"]
    at(end - timedelta(hours=10))
    result = trainyard(*arguments, deployed=deployed)
    assert result.exit_code == 0, result.stderr
    _, job = yaml.safe_load_all(deployed.submitted[-1])
    assert limits_of(job) == until_before(end)
    assert f"gets SIGTERM at {end - BEFORE_BLOCK_ENDS:%Y-%m-%d %H:%M} UTC" in result.stderr
    at(end - BEFORE_BLOCK_ENDS)
    result = trainyard(*arguments, deployed=deployed)
    assert result.exit_code == failures.WRONG_USE
    assert "no time to start before" in result.stderr


@pytest.mark.usefixtures("account")
def test_a_job_on_a_block_that_cannot_be_read_has_no_limit(trainyard, stack_file) -> None:
    deployed = RecordedStack()
    path = stack_file(changed(reservations__block__reservation_id=OTHER_RESERVATION))
    result = trainyard(
        "run", "p5-cb", *IMAGE, "--stack-file", path, "--", "train.py", deployed=deployed
    )
    assert result.exit_code == 0, result.stderr
    _, job = yaml.safe_load_all(deployed.submitted[-1])
    assert limits_of(job) == (None, None)
    assert "cannot be read, so the job" in result.stderr


def test_the_limit_is_by_the_clock_of_the_account(trainyard, stack_file, tmp_path: Path) -> None:
    """A sandbox can be ahead of this machine."""
    deployed = RecordedStack()
    path = stack_file(COMPLETE)
    with running_sandbox(tmp_path / "sandbox") as account:
        end = account.reservation(BLOCK)["EndDate"]
        ahead = end - timedelta(hours=10, seconds=30) - datetime.now(UTC)
        advance_clock(ahead.total_seconds() / 3600)
        arguments = ("run", "p5-cb", *IMAGE, "--sandbox", "--stack-file", path, "--", "a.py")
        result = trainyard(*arguments, deployed=deployed)
    assert result.exit_code == 0, result.stderr
    _, job = yaml.safe_load_all(deployed.submitted[-1])
    assert limits_of(job) == until_before(end)


def test_the_end_in_the_stack_file_needs_no_account(trainyard, stack_file, at) -> None:
    block = {**COMPLETE["reservations"]["block"], "ends_at": END.isoformat()}
    path = stack_file({**COMPLETE, "reservations": {"block": block}})
    at(END - timedelta(hours=10))
    result = trainyard("run", "p5-cb", *IMAGE, "--stack-file", path, "--dry-run", "--", "train.py")
    _, job = yaml.safe_load_all(result.stdout)
    assert limits_of(job) == until_before(END)


TRN2 = {"instance_type": "trn2u.48xlarge", "efa_enabled": True, "maximum": 4}
ULTRASERVER = {
    "kind": "capacity-block",
    "reservation_id": RESERVATION,
    "availability_zone": "us-west-2b",
    "ends_at": END.isoformat(),
}
ON_EKS = changed(
    reservations__block=ULTRASERVER,
    architecture__node_groups__p5={**TRN2, "purchase_option": "block", "minimum": 0, "desired": 4},
)
ON_SLURM = raw_p4de(
    reservations__p4de=ULTRASERVER,
    **{"architecture__queues__compute-gpu__compute_resources": {"u": {**TRN2, "minimum": 4}}},
)
ON_BATCH = raw_config(
    TRN1,
    reservations={"block": ULTRASERVER},
    architecture__compute_environments__trn1={
        **TRN2,
        "purchase_option": "block",
        "image": "custom",
        "custom_ami_id": AMI,
    },
)


@pytest.mark.parametrize(
    ("cluster", "options", "minutes_before_end"),
    [
        pytest.param(ON_EKS, IMAGE, 75, id="eks"),
        pytest.param(ON_SLURM, (), 65, id="slurm"),
        pytest.param(ON_BATCH, (), 65, id="batch"),
    ],
)
def test_a_job_on_an_ultraserver_has_five_minutes_before_its_nodes_leave(
    trainyard,
    stack_file,
    at,
    cluster: dict[str, Any],
    options: tuple[str, ...],
    minutes_before_end: int,
) -> None:
    at(END - timedelta(hours=10))
    arguments = ("--stack-file", stack_file(cluster), *options, "--dry-run", "--", "train.py")
    result = trainyard("run", "p5-cb", *arguments)
    assert result.exit_code == 0, result.stderr
    stops_at = END - timedelta(minutes=minutes_before_end)
    assert f"gets SIGTERM at {stops_at:%Y-%m-%d %H:%M} UTC" in result.stderr


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize(("cluster", "options"), [(COMPLETE, IMAGE), (raw_p4de(), ())])
def test_it_waits_unless_it_is_detached(trainyard, stack_file, cluster, options) -> None:
    deployed = RecordedStack()
    path = stack_file(cluster)
    for more in ((), ("--detach",), ("--wait-minutes", "5")):
        arguments = [*options, *more, "--stack-file", path, "--", "train.py"]
        result = trainyard("run", "p5-cb", *arguments, deployed=deployed)
        assert result.exit_code == 0, result.stderr
    limits = [wait and wait.start_limit_minutes for wait in deployed.waits]
    assert limits == [30, None, 5]


@pytest.mark.parametrize("command", [["run", "--", "x"], ["job", "nccl-tests"]])
@pytest.mark.parametrize("architecture", [{}, {"architecture": {"kind": "nomad"}}])
def test_a_stack_file_of_no_known_kind_is_refused(
    trainyard, stack_file, command: list[str], architecture: dict[str, Any]
) -> None:
    path = stack_file({"name": "x", **architecture})
    name, *rest = command
    result = trainyard(name, "p5-cb", "--stack-file", path, *rest)
    assert result.exit_code == failures.WRONG_USE
    assert "trainyard:cluster.architecture" in result.stderr
