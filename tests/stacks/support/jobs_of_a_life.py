"""Jobs in the life of an EKS stack: submitted, waiting, cancelled, and with faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kubernetes import client

from tests.support.collective_logs import whole_log
from tests.support.planted_secret import VALUE, files_with_value
from tests.support.processes import until
from tests.support.sandbox import Done, Sandbox
from tests.support.secret_forms import CHOSEN, PLANTED_ARGUMENTS, PLANTED_OPTIONS
from tests.support.tracked import ROOT

_PROGRAM = ("--image", "pytorch/pytorch:2.11.0", "--", "train.py")
OTHER_TEAM = "other-team"
_LOGS = ROOT / "tests" / "trainyard" / "verify" / "logs"
_FAULTS = """\
- {happens: container-fails, job: train, index: 0, log: first.log, after_seconds: 3}
- {happens: container-succeeds, job: train, index: 0, nth: 2, log: second.log}
- {happens: node-lost, job: train, index: 1, after_seconds: 1}
- {happens: container-fails, job: broken, index: 0, times: always, exit_code: 7}
- {happens: container-succeeds, job: 'nccl-tests-*', index: 0, log: good.log}
- {happens: container-succeeds, job: 'nccl-tests-*', index: 0, nth: 2, log: sockets.log}
"""


@dataclass(slots=True)
class JobsOfALife:
    """Runs the jobs of a stack with two p5.48xlarge, and keeps the results by name of the step."""

    sandbox: Sandbox
    stack: str
    done: dict[str, Done] = field(default_factory=dict[str, Done])
    instances: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Provider ids of the workers."""
    bundle: Path = field(init=False)
    """The directory of the diagnosis."""
    answers: list[str] = field(default_factory=list[str])
    """What the API server says about a job with a secret, except its Secret."""
    revealed: list[Path] = field(default_factory=list[Path])
    """Files of the sandbox with the value of the secret, but those of etcd."""

    def run(self) -> None:
        """Run all of them."""
        job = ("job", self.stack, "nccl-tests", "--submit", "--wait", "--sandbox")
        self.done["job"] = self.sandbox.must(*job)
        self._run_with_faults()
        self._set_schedulable(schedulable=False)
        waiting = ("run", self.stack, "--sandbox", "--detach", "--name", "waits")
        planted = (*PLANTED_OPTIONS, *_PROGRAM, *PLANTED_ARGUMENTS)
        self.done["waiting"] = self.sandbox.must(*waiting, *planted)
        self._let_another_team_wait()
        jobs = ("jobs", self.stack, "--sandbox", "--json")
        self.done["jobs"] = self.sandbox.must(*jobs)
        self.bundle = self.sandbox.directory / f"bundle-of-{self.stack}"
        diagnose = ("diagnose", self.stack, "--sandbox", "--output", self.bundle)
        self.done["diagnose"] = self.sandbox.must(*diagnose)
        (printed,) = (
            line.split()[1:]
            for line in self.done["waiting"].stderr.splitlines()
            if "./trainyard cancel" in line
        )
        self.done["cancel"] = self.sandbox.must(*printed)
        self.done["jobs after"] = self.sandbox.must(*jobs)
        self._set_schedulable(schedulable=True)
        self._run_with_a_secret()

    def _run_with_faults(self) -> None:
        """Run a program and tests whose containers do what a schedule says."""
        logs = {
            "first": "step 1\n",
            "second": "resumed at step 1\n",
            "good": whole_log(["nccl-tests-p5-0", "nccl-tests-p5-1"], 8, 32, 487.09),
            "sockets": (_LOGS / "g6e-socket-fallback.log").read_text(encoding="utf-8"),
        }
        schedule = self.sandbox.directory / "faults.yaml"
        for name, text in logs.items():
            (schedule.parent / f"{name}.log").write_text(text, encoding="utf-8")
        schedule.write_text(_FAULTS, encoding="utf-8")
        self.sandbox.must("sandbox", "faults", schedule)
        before = self.instances["before"] = self._instances()
        run = ("run", self.stack, "--sandbox", "--restarts", "1")
        self.done["run"] = self.sandbox.must(*run, *_PROGRAM)
        until(
            lambda: len(found := self._instances()) == 2 and found != before,
            "the lost node is replaced",
        )
        self.instances["after"] = self._instances()
        self.done["broken"] = self.sandbox.run(*run, "--name", "broken", *_PROGRAM)
        verify = ("verify", self.stack, "--sandbox", "--no-pairs", "--json")
        for moment in ("verify", "verify over sockets"):
            self.done[moment] = self.sandbox.run(*verify)
        self.sandbox.must("sandbox", "faults", "--clear")

    def _let_another_team_wait(self) -> None:
        """Create a pod of another team, in a namespace that the stack does not use."""
        container = client.V1Container(
            name="main", image="busybox", env=[client.V1EnvVar(name="THEIRS", value=CHOSEN)]
        )
        pod = client.V1Pod(
            metadata=client.V1ObjectMeta(name="theirs"),
            spec=client.V1PodSpec(containers=[container], node_selector={"no": "node"}),
        )
        with self.sandbox.kubernetes(self.stack) as api:
            core = client.CoreV1Api(api)
            core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=OTHER_TEAM)))
            core.create_namespaced_pod(OTHER_TEAM, pod)

    def _run_with_a_secret(self) -> None:
        """Run a program with a key of a Secret, and look for the value."""
        job = ("--name", "secret", "--secret", "HF_TOKEN=secret/hf/token", *_PROGRAM)
        run = ("run", self.stack, "--sandbox", *job)
        self.done["without the Secret"] = self.sandbox.run(*run)
        with self.sandbox.kubernetes(self.stack) as api:
            core = client.CoreV1Api(api)
            body = {"metadata": {"name": "hf"}, "stringData": {"token": VALUE}}
            core.create_namespaced_secret("default", body)
            self.done["secret"] = self.sandbox.run(*run)
            self.answers = [
                str(listed.to_dict())
                for listed in (
                    core.list_pod_for_all_namespaces(),
                    core.list_config_map_for_all_namespaces(),
                    core.list_event_for_all_namespaces(),
                    client.BatchV1Api(api).list_job_for_all_namespaces(),
                )
            ]
        self.revealed = files_with_value(self.sandbox.directory, kept_in="/etcd")

    def _instances(self) -> set[str]:
        with self.sandbox.kubernetes(self.stack) as api:
            return {each.spec.provider_id for each in p5_nodes(client.CoreV1Api(api))}

    def _set_schedulable(self, *, schedulable: bool) -> None:
        with self.sandbox.kubernetes(self.stack) as api:
            core = client.CoreV1Api(api)
            for node in p5_nodes(core):
                core.patch_node(node.metadata.name, {"spec": {"unschedulable": not schedulable}})


def p5_nodes(core: client.CoreV1Api) -> list[client.V1Node]:
    """Return the nodes of a cluster that are p5.48xlarge."""
    selector = "node.kubernetes.io/instance-type=p5.48xlarge"
    return core.list_node(label_selector=selector).items
