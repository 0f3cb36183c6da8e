"""`kubeconfig`: adds the cluster of a stack to a kubeconfig.

It works like https://docs.aws.amazon.com/cli/latest/reference/eks/update-kubeconfig.html
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from trainyard.cli import console, failures, options
from trainyard.deployment.stack_outputs import deployed_cluster
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.stack_files.files import write_private
from trainyard.stack_files.yaml_limits import UnreadableYamlError
from trainyard.stack_files.yaml_reader import read_yaml

_LISTS = ("clusters", "contexts", "users")
"""Lists of named entries:
https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/#Config"""


def kubeconfig(
    context: typer.Context,
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    path: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            parser=options.output_file,
            help="File to write or extend. Default: $KUBECONFIG, then ~/.kube/config.",
        ),
    ] = None,
    stack_file: options.StackFilePath = None,
) -> None:
    """Write the kubeconfig of an EKS stack, and make it the current context.

    Other clusters, users and contexts of the file are kept. With --sandbox and without --path, the
    sandbox's own file is written.
    """
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    if not target.stack_file.facts.has_kubernetes:
        raise failures.WrongUseError(f"{stack} has no Kubernetes cluster, so it has no kubeconfig")
    outputs = deployed_stack(context, target).outputs(show_secrets=True)
    cluster, own = deployed_cluster(target, outputs)
    if sandbox and path is None:
        written, _ = target.write_kubeconfig(own)
        console.answer(f"{target.account.kubectl_command(written)} get nodes")
        return
    file = path or default_path(os.environ)
    name = context_name(cluster, "sandbox" if sandbox else target.region)
    merged = merge(_read(file), yaml.safe_load(own), name=name)
    write_private(file, yaml.safe_dump(merged, sort_keys=False))
    console.answer(f"{file}: context {name} is the cluster of {stack}, and the current context")


def default_path(environment: Mapping[str, str]) -> Path:
    """Return the first file of `KUBECONFIG`, or `~/.kube/config`.

    https://docs.aws.amazon.com/cli/latest/reference/eks/update-kubeconfig.html
    """
    listed = [path for path in environment.get("KUBECONFIG", "").split(os.pathsep) if path]
    return Path(listed[0] if listed else "~/.kube/config").expanduser()


def context_name(cluster: str, place: str) -> str:
    """Return the name of the context, cluster and user; pulumi-eks has the same for all."""
    return f"{cluster}.{place}"


def merge(existing: Mapping[str, Any], own: Mapping[str, Any], *, name: str) -> dict[str, Any]:
    """Return a kubeconfig with the cluster of another one, which becomes the current context.

    Args:
        existing: The kubeconfig to extend; an entry of the same name is replaced.
        own: A kubeconfig with one cluster, one user and one context.
        name: Name of the new entries.
    """
    added = {
        "clusters": {"name": name, "cluster": own["clusters"][0]["cluster"]},
        "contexts": {"name": name, "context": {"cluster": name, "user": name}},
        "users": {"name": name, "user": own["users"][0]["user"]},
    }
    merged: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", **existing}
    for key in _LISTS:
        others = [each for each in merged.get(key) or [] if each.get("name") != name]
        merged[key] = [*others, added[key]]
    return {**merged, "current-context": name}


def _read(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        return {}
    try:
        content = read_yaml(path)
    except UnreadableYamlError as error:
        raise failures.WrongUseError(f"{path} was not changed: {error}") from error
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(map(_is_list_of_names, _lists(content))):
        raise failures.WrongUseError(
            f"{path} is not a kubeconfig, and was not changed; choose another file with --path"
        )
    return content


def _lists(content: Mapping[str, Any]) -> list[Any]:
    return [content.get(key) or [] for key in _LISTS]


def _is_list_of_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)
