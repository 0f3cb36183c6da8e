"""JobSet, which starts all pods of a job again together when one of them fails.

Source: https://github.com/kubernetes-sigs/jobset, the manifests of the pinned release in
`components/catalog/data/jobset.json`. `docs/decisions/0014-kueue-from-its-manifests.md` says why
not its chart.
"""

from __future__ import annotations

from trainyard.components.catalog.kueue import JOBSET_RELEASE, released_objects
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon
from trainyard.components.eks.addons.released_controller import released_controller
from trainyard.components.runtime.workload_plan import WorkloadPlan

IMAGE = "registry.k8s.io/jobset/jobset:v0.12.0"


def workloads(target: AddonTarget) -> list[WorkloadPlan]:
    """Return the Deployment `jobset-system/jobset-controller-manager` and its objects."""
    return [
        released_controller(
            JOBSET_RELEASE,
            released_objects(JOBSET_RELEASE),
            image=IMAGE,
            kept_off=[each.instance_type.name for each in target.accelerated_groups],
        )
    ]


JOBSET = SelfManagedAddon(
    name="jobset",
    component="JobSet",
    # Its image is pulled on the system nodes; its jobs run on all others.
    serves=lambda _: True,
    enabled=lambda config: config.architecture.addons.jobset,
    option="architecture.addons.jobset",
    workloads=workloads,
    on_system_nodes=True,
    public_image="JobSet",
)
