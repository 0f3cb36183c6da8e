"""`job --submit` and `run` for EKS: create the objects of a job in the cluster of the stack.

The job is created suspended, and the other objects are owned by it: they are deleted with the job,
and its pods start when all of them exist: at once, or when Kueue starts the job.

Source:
    https://kubernetes.io/docs/concepts/workloads/controllers/job/#suspending-a-job
    https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/
    https://kubernetes.io/docs/reference/labels-annotations-taints/#app-kubernetes-io-managed-by
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kubernetes import client
from kubernetes.client import ApiException
from kubernetes.utils import FailToCreateError, create_from_dict
from urllib3.exceptions import HTTPError

from trainyard.cli import console, failures
from trainyard.components.catalog.kueue import QUEUE_LABEL
from trainyard.deployment.stack_outputs import deployed_cluster, outputs_of
from trainyard.jobs.job_manifest import JobManifest, Manifest, kubectl_name
from trainyard.schedulers.job_wait import JobWait, going_on
from trainyard.schedulers.kubernetes.cluster import answering
from trainyard.schedulers.kubernetes.cluster_client import cluster_client
from trainyard.schedulers.kubernetes.job_wait import wait_for
from trainyard.schedulers.kubernetes.workloads import (
    Workload,
    create_workload,
    delete_workload,
    find_workload,
    owner_reference,
    patch_workload,
)
from trainyard.workspace.session import refuse_occupied
from trainyard.workspace.target import Target

MANAGED_BY = {"app.kubernetes.io/managed-by": "trainyard"}
"""Label of every job that `job` or `run` has created."""
MANAGED_SELECTOR = ",".join(f"{name}={value}" for name, value in MANAGED_BY.items())
_FORBIDDEN, _NOT_FOUND = 403, 404
_DELETION_ATTEMPTS = 24
"""Polls until the pods of a previous run are gone: two minutes, and pods have 30 s to end.
https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination"""


def submit_manifest(manifest: Manifest, *, target: Target, wait: JobWait | None) -> None:
    """Create the jobs of a manifest, and print their names on standard output.

    Args:
        manifest: The jobs.
        target: The stack and its account.
        wait: How to wait for the end of the jobs; None to return at once.

    Raises:
        WrongUseError: there are no credentials.
        StackLockedError: another command holds the lock of the stack.
        CommandError: the stack has no cluster, a job of the name is there and has not ended, the
            API server refuses an object or, with `wait`, a job fails or does not start.
    """
    # While the stack changes, its nodes may change as well.
    refuse_occupied(target)
    cluster, kubeconfig = deployed_cluster(target, outputs_of(target, show_secrets=True))
    path, _ = target.write_kubeconfig(kubeconfig)
    kubectl = target.account.kubectl_command(path)
    manifests = manifest.jobs
    with (
        target.access(),
        answering(cluster),
        cluster_client(kubeconfig) as api,
    ):
        create_jobs(api, manifests, wait or JobWait(), kubectl=kubectl, target=target)
        if wait:
            names = [f"{each.namespace}/{each.name}" for each in manifests]
            with going_on(target, *names):
                wait_for(api, manifests, wait, target.account)


def create_jobs(
    api: client.ApiClient,
    manifests: Sequence[JobManifest],
    wait: JobWait,
    *,
    kubectl: str,
    target: Target,
) -> None:
    """Create jobs in a cluster instead of their previous runs, and print their names.

    Args:
        api: Client of the cluster.
        manifests: The jobs.
        wait: How to wait for the end of the pods of previous runs.
        kubectl: The `kubectl` command for the cluster, for messages.
        target: The stack and its account.

    Raises:
        WrongUseError: a namespace does not exist.
        CommandError: a job of the name is there and has not ended, a secret does not exist, or the
            API server refuses an object.
    """
    for namespace in {each.namespace for each in manifests} - {"default"}:
        _require_namespace(api, namespace, kubectl)
    for each in manifests:
        _require_secrets(api, each, kubectl)
    previous = [_previous_run(api, each, kubectl) for each in manifests]
    for each, ended in zip(manifests, previous, strict=True):
        if ended is not None:
            _delete_run(api, ended, wait)
        _create(api, each, kubectl)
        console.answer(each.name)
        commands = "\n  ".join(_commands(each, kubectl, target))
        console.progress(f"submitted {each.name}; commands for it:\n  {commands}")


def _require_namespace(api: client.ApiClient, namespace: str, kubectl: str) -> None:
    """Refuse a namespace that does not exist; `default` always does.

    A user who may not read namespaces submits the job nevertheless.

    Raises:
        WrongUseError: it does not exist.
    """
    core: Any = client.CoreV1Api(api)
    try:
        core.read_namespace(namespace)
    except ApiException as error:
        if error.status == _FORBIDDEN:
            return
        if error.status != _NOT_FOUND:
            raise
        raise failures.WrongUseError(
            f"the cluster has no namespace {namespace}; name another one with --namespace, or "
            f"create it:  {kubectl} create namespace {namespace}"
        ) from error


def _require_secrets(api: client.ApiClient, manifest: JobManifest, kubectl: str) -> None:
    """Refuse a job with a secret that does not exist, with which its pods would never start.

    A user who may not read Secrets submits the job nevertheless: its pods may.

    Raises:
        CommandError: a Secret or its key does not exist.
    """
    core: Any = client.CoreV1Api(api)
    keys: dict[str, set[str]] = {}
    for name, key in sorted(manifest.secret_keys):
        try:
            if name not in keys:
                found = core.read_namespaced_secret(name, manifest.namespace)
                keys[name] = set(found.data or ())
        except ApiException as error:
            if error.status == _FORBIDDEN:
                return
            if error.status != _NOT_FOUND:
                raise
            raise failures.CommandError(
                f"the namespace {manifest.namespace} has no Secret {name}; make it from a file "
                f"with the value:  {kubectl} create secret generic {name} -n {manifest.namespace} "
                f"--from-file={key}=FILE"
            ) from error
        if key not in keys[name]:
            raise failures.CommandError(
                f"the Secret {name} in the namespace {manifest.namespace} has no key {key}; it "
                f"has: {', '.join(sorted(keys[name])) or 'none'}"
            )


def _previous_run(api: client.ApiClient, manifest: JobManifest, kubectl: str) -> Workload | None:
    """Return a previous run that has ended; a job that must stay is refused."""
    found = find_workload(api, manifest.namespace, manifest.name)
    if found is None:
        return None
    delete = f"delete it:  {kubectl} delete {kubectl_name(found.kind, found.namespace, found.name)}"
    if MANAGED_BY.items() - found.labels.items():
        raise failures.CommandError(
            f"namespace {manifest.namespace} has a job {manifest.name} that neither `job` nor "
            f"`run` has created; {delete}"
        )
    if found.end is None:
        raise failures.CommandError(
            f"the job {manifest.name} is in the cluster and has not ended; wait for it, or {delete}"
        )
    return found


def _delete_run(api: client.ApiClient, run: Workload, wait: JobWait) -> None:
    """Delete the previous run of a job, with its pods and objects."""
    console.progress(f"deleting the previous run of {run.name}")
    delete_workload(api, run)
    for _ in range(_DELETION_ATTEMPTS):
        if find_workload(api, run.namespace, run.name, run.kind) is None:
            return
        wait.pause(wait.poll_seconds)
    raise failures.CommandError(
        f"the pods of the previous run of {run.name} do not end; run the command again when "
        "they have"
    )


def _create(api: client.ApiClient, manifest: JobManifest, kubectl: str) -> None:
    job = manifest.job
    labels = {**job["metadata"].get("labels", {}), **MANAGED_BY}
    # A queue takes notice of the job when it has the label, and may start it from then on.
    queue = labels.pop(QUEUE_LABEL, None)
    start: dict[str, Any] = {"spec": {"suspend": False}}
    if queue is not None:
        start = {"metadata": {"labels": {QUEUE_LABEL: queue}}}
    suspended = {
        **job,
        "metadata": {**job["metadata"], "labels": labels},
        "spec": {**job["spec"], "suspend": True},
    }
    made = create_workload(api, suspended)
    try:
        for each in manifest.others:
            metadata = {**each["metadata"], "ownerReferences": [owner_reference(made)]}
            create_from_dict(api, {**each, "metadata": metadata})
        patch_workload(api, made, start)
    except BaseException as error:
        # Also after Ctrl-C: a job that is not complete would wait for ever.
        delete_workload(api, made, propagation_policy="Background")
        if not isinstance(error, FailToCreateError | ApiException | HTTPError):
            raise
        raise failures.CommandError(_refusal(error, manifest, kubectl)) from error


def _refusal(error: Exception, manifest: JobManifest, kubectl: str) -> str:
    if not isinstance(error, FailToCreateError):
        return f"the job {manifest.name} was not submitted: {error}"
    refused: list[ApiException] = error.api_exceptions
    if any(each.status == 409 for each in refused):
        kinds = ",".join(each["kind"].lower() for each in manifest.others)
        return (
            f"namespace {manifest.namespace} has objects named {manifest.name} of another job; "
            f"delete them:  {kubectl} delete -n {manifest.namespace} {kinds} {manifest.name}"
        )
    reasons = "; ".join(f"{each.status} {each.reason}" for each in refused)
    return f"the job {manifest.name} was not submitted: {reasons}"


def _commands(manifest: JobManifest, kubectl: str, target: Target) -> Iterator[str]:
    pods = f"-n {manifest.namespace} -l {manifest.pod_selector}"
    name = f"{manifest.namespace}/{manifest.name}"
    yield f"{kubectl} get pods {pods}"
    yield f"{kubectl} logs {pods} --prefix --tail=-1 --follow"
    yield f"{target.command('logs')} {name} --follow"
    yield target.command("jobs")
    yield f"{target.command('cancel')} {name}"
