"""Explain engine failures in terms of the stack file: its pools, reservations and plugins."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli.failures import CommandError
from trainyard.components import clock
from trainyard.components.account.call_failures import explained
from trainyard.components.capacity.reservations import reservation_ids
from trainyard.components.config.problems import ConfigError
from trainyard.diagnosis.bundle import failed_resources
from trainyard.diagnosis.engine_failures import FailedStack, advice
from trainyard.diagnosis.failed_pool import FailedPool, ReservationUse, pool_of, read_reservations
from trainyard.diagnosis.known_errors import exists_already, is_unreachable, is_unready_daemon_set
from trainyard.diagnosis.rollout import look_at, plugins_not_ready
from trainyard.diagnosis.unreachable_cluster import why_it_is_unreachable
from trainyard.engine.engine_process import EngineFailedError
from trainyard.stack_files.stack_config import config_of
from trainyard.workspace.exported_state import exported_state, resources_of
from trainyard.workspace.target import Target

if TYPE_CHECKING:
    from trainyard.components.config.load import AnyStackConfig
    from trainyard.engine.engine_events import EngineError
    from trainyard.workspace.workspace import Workspace

_KUBERNETES = "pulumi:providers:kubernetes"


def why_it_failed(errors: Sequence[EngineError], workspace: Workspace) -> list[str]:
    """Return what the engine's errors mean and what helps; empty if nothing can be added."""
    target, found = workspace.target, list[str]()
    if any(is_unreachable(error) for error in errors):
        found += why_it_is_unreachable(workspace)
    if any(exists_already(error) for error in errors):
        preview = target.command("preview")
        found += [
            "the cluster has an object that this update would create, but the state does not have",
            f"  to list the commands that delete or import it:  {preview}",
        ]
    try:
        config = config_of(target.stack_file)
    except ConfigError:
        # `destroy` continues with a file that has become invalid.
        return found
    stack = FailedStack(
        cluster=config.name,
        target=target,
        pool_of=lambda error: _pool(error, config, target),
    )
    found += advice(errors, stack)
    if target.stack_file.facts.made_by_parallelcluster and any(map(_is_of_cluster, errors)):
        found += _cluster_reasons(config.name, target)
    if any(is_unready_daemon_set(error) for error in errors):
        found += _plugins(workspace)
    return found


def _is_of_cluster(error: EngineError) -> bool:
    return error.resource_type == "aws:cloudformation/stack:Stack"


def _cluster_reasons(cluster: str, target: Target) -> list[str]:
    """Return CloudFormation's complete reasons, of which the custom resource passes on the end."""
    try:
        with target.access():
            client = target.client("cloudformation")
            failed = failed_resources(client, cluster, now=clock.now())
    except CommandError:
        return []  # without credentials, the engine's message is sufficient
    except (BotoCoreError, ClientError) as error:
        why = explained("cloudformation:DescribeStackEvents", error)
        return [f"the events of the cluster's CloudFormation stack cannot be read: {why}"]
    if not failed:
        return []
    return [f"in the CloudFormation stack {cluster}:", *(f"  {each}" for each in failed)]


def _pool(error: EngineError, config: AnyStackConfig, target: Target) -> FailedPool | None:
    pool = pool_of(error, config.pools(), cluster=config.name)
    if pool is None:
        return None
    return FailedPool(
        described=f"{config.architecture.POOL_NOUN} {pool.name}",
        key=pool.key,
        launch_key=pool.launch_key,
        instance_type=pool.instance_type,
        purchase_option=pool.purchase_option,
        nodes=pool.maximum,
        reservations=_reservations(pool.purchase_option, config, target),
    )


def _reservations(
    purchase_option: str, config: AnyStackConfig, target: Target
) -> tuple[ReservationUse, ...]:
    """Return the reservations of a purchase option that can be read now."""
    reservation = config.reservations.get(purchase_option)
    if reservation is None:
        return ()
    try:
        with target.access():
            return read_reservations(target.client("ec2"), reservation_ids(reservation, {}))
    except (BotoCoreError, ClientError, CommandError):
        return ()


def _plugins(workspace: Workspace) -> list[str]:
    """Return why DaemonSet pods do not run, and write the kubeconfig."""
    stack = workspace.stack_file.stack
    try:
        exported = exported_state(workspace.command, stack, show_secrets=True)
    except EngineFailedError:
        return []  # the engine's message is sufficient
    recorded = recorded_kubeconfig(exported)
    if recorded is None:
        return []
    path, kubeconfig = workspace.target.write_kubeconfig(recorded)
    state, silence = look_at(kubeconfig)
    if state is None:
        return [silence]
    kubectl = workspace.target.account.kubectl_command(path)
    return plugins_not_ready(state.pods, state, kubectl)


def recorded_kubeconfig(exported: Mapping[str, Any]) -> str | None:
    """Return the kubeconfig of the Kubernetes provider in an exported stack with decrypted secrets.

    None if the stack has no cluster. Secrets are mappings with the JSON of their value:
    https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/core.go, `SecretV1`.
    """
    for resource in resources_of(exported):
        if resource["type"] == _KUBERNETES:
            value = (resource.get("inputs") or {}).get("kubeconfig")
            if isinstance(value, Mapping):
                value = json.loads(value["plaintext"])
            if value:
                return value if isinstance(value, str) else json.dumps(value)
    return None
