"""Lifecycle hooks of Auto Scaling groups.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/autoscaling/lifecyclehook/
"""

from __future__ import annotations

from sandbox.providers.aws.account import Account
from sandbox.providers.aws.resource import ResourceType, Values

PARAMETERS = {
    "name": "LifecycleHookName",
    "autoscalingGroupName": "AutoScalingGroupName",
    "lifecycleTransition": "LifecycleTransition",
    "defaultResult": "DefaultResult",
    "heartbeatTimeout": "HeartbeatTimeout",
}


def _put(account: Account, inputs: Values) -> tuple[str, Values]:
    account.client("autoscaling").put_lifecycle_hook(
        **{aws: inputs[key] for key, aws in PARAMETERS.items() if key in inputs}
    )
    return f"{inputs['autoscalingGroupName']}/{inputs['name']}", {}


def _update(account: Account, identifier: str, olds: Values, news: Values) -> None:
    _put(account, news)


def _read(account: Account, identifier: str) -> Values | None:
    group, _, name = identifier.rpartition("/")
    client = account.client("autoscaling")
    if not client.describe_auto_scaling_groups(AutoScalingGroupNames=[group])["AutoScalingGroups"]:
        return None
    hooks = client.describe_lifecycle_hooks(AutoScalingGroupName=group, LifecycleHookNames=[name])
    if not hooks["LifecycleHooks"]:
        return None
    (hook,) = hooks["LifecycleHooks"]
    return {key: hook.get(aws) for key, aws in PARAMETERS.items()}


def _delete(account: Account, identifier: str, outputs: Values) -> None:
    group, _, name = identifier.rpartition("/")
    if _read(account, identifier) is None:
        return
    account.client("autoscaling").delete_lifecycle_hook(
        AutoScalingGroupName=group, LifecycleHookName=name
    )


LIFECYCLE_HOOK = ResourceType(
    token="aws:autoscaling/lifecycleHook:LifecycleHook",
    inputs=frozenset(PARAMETERS),
    required=frozenset({"autoscalingGroupName", "lifecycleTransition"}),
    computed=frozenset({"defaultResult", "heartbeatTimeout"}),
    replace_on=frozenset({"name", "autoscalingGroupName"}),
    name_property="name",
    create=_put,
    read=_read,
    update=_update,
    delete=_delete,
)

RESOURCE_TYPES = (LIFECYCLE_HOOK,)
