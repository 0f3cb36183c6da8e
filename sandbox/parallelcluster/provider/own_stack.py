"""The CloudFormation stack that ParallelCluster creates for each cluster, with the same name.

Here it contains only a wait condition handle, because the provider itself creates the parts of the
cluster. It reserves the name: no other stack can have it, and no cluster can have the name of a
stack.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from botocore.exceptions import ClientError

from trainyard.sandbox.parallelcluster.provider import artifacts, log_groups, naming
from trainyard.sandbox.parallelcluster.provider.account import Clients
from trainyard.sandbox.parallelcluster.provider.model import Cluster

_TEMPLATE = {
    "Description": "Sandbox stand-in for the stack of a cluster of AWS ParallelCluster",
    "Resources": {"Handle": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
}
_POLL_SECONDS = 0.05
_TIMEOUT_SECONDS = 300.0


def find_stack(clients: Clients, name: str) -> dict[str, Any] | None:
    """Return the stack of a name as CloudFormation describes it, or None."""
    try:
        return clients("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return None
        raise


def make_stack(clients: Clients, cluster: Cluster, configuration: Mapping[str, Any]) -> str:
    """Create the stack of a cluster; return its ARN."""
    directory = artifacts.new_directory(cluster.name)
    parameters = {
        **(
            {log_groups.PARAMETER: log_groups.name_of(cluster.name)}
            if cluster.has_log_group
            else {}
        ),
        **artifacts.put_configuration(clients, directory, configuration),
    }
    made = clients("cloudformation").create_stack(
        StackName=cluster.name,
        TemplateBody=_template(parameters),
        Tags=naming.tag_list(
            {**cluster.tags, naming.VERSION: metadata.version("aws-parallelcluster")}
        ),
    )
    _wait(clients, cluster.name)
    return made["StackId"]


def change_configuration(clients: Clients, name: str, configuration: Mapping[str, Any]) -> None:
    """Write the configuration of a changed cluster."""
    known = _parameters(find_stack(clients, name) or {})
    directory = known.get(artifacts.DIRECTORY) or artifacts.new_directory(name)
    changed = {**known, **artifacts.put_configuration(clients, directory, configuration)}
    clients("cloudformation").update_stack(StackName=name, TemplateBody=_template(changed))
    _wait(clients, name)


def _template(parameters: Mapping[str, str]) -> str:
    """Return the template, whose parameters have defaults; source: `cluster_stack.py`."""
    declared = {name: {"Type": "String", "Default": value} for name, value in parameters.items()}
    return json.dumps({**_TEMPLATE, "Parameters": declared})


def _parameters(stack: Mapping[str, Any]) -> dict[str, str]:
    return {each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", ())}


def remove_stack(clients: Clients, name: str) -> None:
    """Remove the stack of a cluster and its configuration, if it exists."""
    artifacts.remove_configuration(clients, _parameters(find_stack(clients, name) or {}))
    clients("cloudformation").delete_stack(StackName=name)
    _wait(clients, name)


def _wait(clients: Clients, name: str) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while "IN_PROGRESS" in ((find_stack(clients, name) or {}).get("StackStatus", "")):
        if time.monotonic() > deadline:
            raise TimeoutError(f"stack {name} does not settle")
        time.sleep(_POLL_SECONDS)
