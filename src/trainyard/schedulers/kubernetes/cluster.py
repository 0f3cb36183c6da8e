"""Access to the Kubernetes cluster of a deployed EKS stack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kubernetes import client
from kubernetes.client import ApiException
from kubernetes.config import ConfigException
from urllib3.exceptions import HTTPError

from trainyard.cli import failures
from trainyard.deployment.stack_outputs import deployed_cluster, outputs_of
from trainyard.schedulers.kubernetes.cluster_client import cluster_client
from trainyard.workspace.target import Target


@contextmanager
def reached_cluster(target: Target) -> Iterator[client.ApiClient]:
    """Give a client of the cluster, and explain errors of its API server.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: the stack has no cluster, or its API server refuses a request or does not
            respond.
    """
    cluster, kubeconfig = deployed_cluster(target, outputs_of(target, show_secrets=True))
    with (
        target.access(),
        answering(cluster),
        cluster_client(kubeconfig) as api,
    ):
        yield api


@contextmanager
def answering(cluster: str) -> Iterator[None]:
    """Explain errors of the API server.

    Raises:
        CommandError: the API server refused a request or did not respond.
    """
    try:
        yield
    except ApiException as error:
        why = f"{error.status} {error.reason}"
    except ConfigException as error:
        why = f"no token for it: {error}"
    except HTTPError as error:
        why = type(error).__name__
    else:
        return
    raise failures.CommandError(f"the API server of cluster {cluster} did not do it: {why}")
