"""Kubernetes, the scheduler of an EKS stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, cast

from trainyard.jobs.names import EKS_JOBS
from trainyard.schedulers.scheduler import Pause, PlannedProgram, Scheduler, SubmittedJobs
from trainyard.stack_files.stack_config import plan_of

if TYPE_CHECKING:
    from trainyard.cli.closing_panel import Summary
    from trainyard.components.eks.plan import EksPlan
    from trainyard.diagnosis.bundle import Bundle
    from trainyard.jobs.nodes import JobNodes
    from trainyard.jobs.training import TrainingRequest
    from trainyard.repair.repair_request import RepairRequest
    from trainyard.schedulers.job_wait import JobWait, RequestedJob
    from trainyard.schedulers.kubernetes.job_plan import KubernetesJob
    from trainyard.verify.inventory import Inventory
    from trainyard.verify.planned_nodes import PlannedTest
    from trainyard.verify.verified import Verified
    from trainyard.workspace.workspace import Workspace


class KubernetesScheduler(Scheduler["KubernetesJob"]):
    """The cluster of a stack."""

    title: ClassVar = "EKS"
    tests: ClassVar = EKS_JOBS
    pool_options: ClassVar = ("--group", "--namespace")
    instead_of_plain_values: ClassVar = "use --secret NAME=secret/SECRET/KEY instead"
    artifacts: ClassVar = MappingProxyType({"kubeconfig": "kubeconfig"})
    log_group_hint: ClassVar = "; choose the logs of its control plane in `architecture.log_types`"
    chooses_image: ClassVar = True
    instead_of_copies: ClassVar = (
        "the pods run that of the image; to copy it, list it in `files` of a job file"
    )
    slow_types: ClassVar = (
        "aws:eks/cluster:Cluster",
        "aws:eks/nodeGroup:NodeGroup",
        "aws:eks/addon:Addon",
    )
    repair_minutes: ClassVar = 10.0

    @cached_property
    def plan(self) -> EksPlan:
        """The plan of the stack."""
        return cast("EksPlan", plan_of(self.target.stack_file))

    def plan_test(self, asked: RequestedJob) -> KubernetesJob:
        """Return a job of `job`."""
        from trainyard.schedulers.kubernetes.job_plan import plan_test

        return plan_test(self.plan, asked)

    def plan_program(
        self, asked: RequestedJob, request: TrainingRequest
    ) -> PlannedProgram[KubernetesJob]:
        """Return a program of `run`."""
        from trainyard.schedulers.kubernetes.job_plan import plan_program

        return plan_program(self.plan, asked, request)

    @classmethod
    def mount_settings(cls, name: str) -> Mapping[str, Any]:
        """Return no keys: every file system becomes a claim that pods mount."""
        del name
        return {}

    @classmethod
    def change_in_place(cls, architecture: dict[str, Any]) -> str:
        """Raise the maximum of the system nodes.

        https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupConfig.html
        """
        from trainyard.components.config.eks import SystemNodeGroup

        nodes = architecture.setdefault("system_node_group", {})
        nodes["maximum"] = nodes.get("maximum", SystemNodeGroup.model_fields["maximum"].default) + 1
        return "system_node_group.maximum"

    def shared_directory(self) -> str:
        """Return the path of the first file system in the container."""
        systems = self.plan.file_systems
        return f"/mnt/{systems[0].claim.name}" if systems else ""

    def submit(self, job: KubernetesJob, wait: JobWait | None) -> None:
        """Create the objects of a job in the cluster."""
        from trainyard.schedulers.kubernetes.submission import submit_manifest

        submit_manifest(job.manifest, target=self.target, wait=wait)

    def submitted(self) -> AbstractContextManager[SubmittedJobs]:
        """Give the jobs that `job` and `run` have created in the cluster."""
        from trainyard.schedulers.kubernetes.jobs import kubernetes_jobs

        plan_of(self.target.stack_file)  # refuses a wrong stack file, like the other schedulers
        return kubernetes_jobs(self.target)

    def log_group(self, cluster: str, outputs: Callable[[], Mapping[str, Any]]) -> str:
        """Return the log group of the control plane."""
        from trainyard.components.eks.cluster_review import control_plane_log_group

        del outputs
        return control_plane_log_group(cluster)

    def planned_test(
        self, *, nodes: int | None, options: Mapping[str, Any]
    ) -> PlannedTest[JobNodes]:
        """Return the test of the accelerators of the stack."""
        from trainyard.schedulers.kubernetes.verification import planned_test

        return planned_test(self.plan, nodes=nodes, options=options)

    def verifiable_pools(self) -> list[Mapping[str, str]]:
        """Return the options of a verification for each node group."""
        from trainyard.schedulers.kubernetes.verification import verifiable_pools

        return verifiable_pools(self.plan)

    def inventory(self, planned: PlannedTest[JobNodes]) -> Inventory:
        """Return the nodes of a test as the API server knows them."""
        from trainyard.schedulers.kubernetes.verification import read_inventory

        return read_inventory(self.plan, self.target, planned)

    def use_results(self, result: Verified, *, drain: bool) -> None:
        """Label the nodes of a test."""
        from trainyard.schedulers.kubernetes.verification import use_results

        del drain
        use_results(result, self.target)

    def node_of(self, planned: PlannedTest[JobNodes]) -> str:
        """Return the name of a node of the node group."""
        from trainyard.schedulers.kubernetes.repair import node_of

        return node_of(self.plan, self.target, planned)

    def repair(self, request: RepairRequest) -> None:
        """Replace the bad nodes of the cluster, or the named one."""
        from trainyard.schedulers.kubernetes.repair import repair_cluster

        repair_cluster(self.plan, request)

    def watch_nodes(
        self, request_of: Callable[[Pause], RepairRequest], interval_minutes: float | None
    ) -> None:
        """Replace bad nodes at intervals until SIGTERM."""
        from trainyard.repair import repair_watch

        def load(stop: repair_watch.Stop) -> tuple[EksPlan, RepairRequest]:
            request = request_of(stop.pause)
            return KubernetesScheduler(request.target).plan, request

        interval = repair_watch.INTERVAL_MINUTES if interval_minutes is None else interval_minutes
        repair_watch.watch(load, interval_minutes=interval)

    def diagnose(self, bundle: Bundle, workspace: Workspace, deployed: Mapping[str, Any]) -> None:
        """Add the parts about the cluster."""
        from trainyard.schedulers.kubernetes.diagnosis import diagnose

        diagnose(bundle, self.plan, workspace, deployed)

    def show_deployed(self, workspace: Workspace, changes: Mapping[str, int]) -> None:
        """Print the panel of `up`."""
        from trainyard.schedulers.kubernetes.summary import show_summary

        show_summary(workspace, changes)

    def show_status(self, summary: Summary) -> None:
        """Print the panel of `status`."""
        from trainyard.schedulers.kubernetes.summary import show_status

        show_status(summary)
