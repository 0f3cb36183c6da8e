"""Which failed pods of a training job are replaced: faults of nodes, but not errors of the program.

| The pod | without restarts | with restarts |
|---|---|---|
| lost its node (`DisruptionTarget`) | 1 node: replaced; more: the job fails | replaced |
| never started | replaced, limited | replaced, limited |
| ended at its time limit | the job fails | the job fails |
| ended with another exit code | the job fails | 1 node: the job fails; more: replaced, limited |

A pod does not start if a device is lost: the kubelet rejects it (`UnexpectedAdmissionError`), or
containerd cannot create its container (`StartError`). Without restarts, a job on several nodes
fails with the first node that it loses, because its other processes cannot go on. With restarts,
torchrun has used all of them when it ends with an exit code; on several nodes, the reason can be
another node.

The pods of a JobSet are never replaced one by one. The JobSet starts all of them again:

| The Job of the JobSet has failed | without restarts | with restarts |
|---|---|---|
| because a pod lost its node | all pods start again | all pods start again |
| because a pod never started, several times | the job fails | all pods start again, limited |
| because a program ended with an exit code | the job fails | all pods start again, limited |
| at its time limit | the job fails | the job fails |

Source:
    https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy
    https://kubernetes.io/docs/concepts/workloads/controllers/job/#backoff-limit-per-index
    https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-replacement-policy
    https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
    https://github.com/containerd/containerd/blob/v2.1.4/internal/cri/server/container_start.go:
        `errorStartExitCode`
    https://github.com/kubernetes-sigs/jobset/blob/v0.12.0/api/jobset/v1alpha2/jobset_types.go:
        `FailurePolicy`, whose rules match the reason and the message of the Job's failure
    https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/controller/job/pod_failure_policy.go:
        the messages, "Pod %s/%s has condition %v matching %v rule at index %d" and "Container %s
        for pod %s/%s failed with exit code %v matching %v rule at index %d"
"""

from __future__ import annotations

from typing import Any

from trainyard.jobs.nodes import JobNodes
from trainyard.jobs.time_limit import TIMED_OUT
from trainyard.jobs.training import INFRASTRUCTURE_RETRIES, TrainingRequest

PROGRAM = "program"
"""Name of the container."""
_NOT_STARTED = 128
"""Exit code of a container that containerd could not start, for example without its devices."""
_LOST_NODE = [{"type": "DisruptionTarget"}]
_LATE = {
    "action": "FailJob",
    "onExitCodes": {"containerName": PROGRAM, "operator": "In", "values": [TIMED_OUT]},
}
_EXITED = {"containerName": PROGRAM, "operator": "NotIn", "values": [_NOT_STARTED]}
"""Any other exit code than 0, with which a container has not failed."""


def pod_failures(request: TrainingRequest, nodes: JobNodes) -> dict[str, Any]:
    """Return the fields of the spec of a Job that decide what the failure of a pod means.

    What no rule matches counts against the limit: a pod that was rejected has no exit code and no
    condition.

    Args:
        request: The program.
        nodes: Its nodes.
    """
    restarts, least = request.restarts, request.minimum_nodes
    replaces = nodes.count == 1 and nodes.failure_policy is None
    replaced = {"action": "Ignore", "onPodConditions": _LOST_NODE}
    if not restarts:
        lost = replaced if replaces else {**replaced, "action": "FailJob"}
        limits: dict[str, Any] = {"backoffLimit": INFRASTRUCTURE_RETRIES}
        rules = [lost, _LATE, {"action": "FailJob", "onExitCodes": _EXITED}]
    else:
        limits = {"backoffLimitPerIndex": restarts, "maxFailedIndexes": 0}
        rules = [replaced, _LATE]
        if replaces:
            rules.append({"action": "FailIndex", "onExitCodes": _EXITED})
    return {
        **limits,
        "podFailurePolicy": {"rules": rules},
        # A new pod needs the devices of the previous one, and its checkpoint.
        "podReplacementPolicy": "Failed",
        # Pods of nodes that do not come back stay pending when the program has ended.
        **({"successPolicy": {"rules": [{"succeededCount": least}]}} if least else {}),
    }


def job_set_failures(request: TrainingRequest) -> dict[str, Any]:
    """Return the failure policy of a JobSet, whose Job has the fields of `pod_failures`.

    Without a matching rule, it starts all pods again within the limit.
    """
    failed_by_pod = {"onJobFailureReasons": ["PodFailurePolicy"]}
    lost = {
        "name": "lostNode",
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        **failed_by_pod,
        "onJobFailureMessagePatterns": ["has condition DisruptionTarget matching"],
    }
    late = {
        "name": "timeLimit",
        "action": "FailJobSet",
        **failed_by_pod,
        "onJobFailureMessagePatterns": [f"failed with exit code {TIMED_OUT} matching"],
    }
    exited = {"name": "program", "action": "FailJobSet", **failed_by_pod}
    return {
        "maxRestarts": request.restarts,
        "rules": [lost, late, *([] if request.restarts else [exited])],
    }
