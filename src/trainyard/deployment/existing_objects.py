"""Find objects that an update would create but that exist in the cluster already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from trainyard.changes.kubernetes_creates import (
    KubernetesCreate,
    api_root,
    existing_cluster,
    kubernetes_creates,
)
from trainyard.cli import console, failures
from trainyard.components.account.lookup import AccountReader, AccountUnreachableError
from trainyard.components.eks.cluster_lookup import ClusterUnreadableError, get
from trainyard.workspace.kubeconfig import kubeconfig_path, kubectl_command
from trainyard.workspace.session import account_access

if TYPE_CHECKING:
    from trainyard.changes.steps import Step
    from trainyard.stack_files.stack_files import StackFile

Get = Callable[[str], Mapping[str, Any] | None]
"""Requests a path from the API server; None if it does not exist."""


class Reach(Protocol):
    """Gives access to the API server of a cluster by name; None if there is no such cluster."""

    def __call__(
        self, stack_file: StackFile, cluster: str, *, sandbox: bool
    ) -> AbstractContextManager[Get | None]:
        """Give it, in the account of the stack."""
        ...


@contextmanager
def reached_api_server(
    stack_file: StackFile, cluster: str, *, sandbox: bool
) -> Iterator[Get | None]:
    """Give access to the API server of a cluster in the account.

    Raises:
        WrongUseError: there are no credentials.
        AccountUnreachableError: the account cannot be queried.
    """
    with account_access(sandbox=sandbox, profile=stack_file.profile):
        reader = AccountReader(region=stack_file.region)
        described = reader.ask("eks:DescribeCluster", reader.eks.describe_cluster, name=cluster)
        yield described and (lambda path: get(reader, described["cluster"], path))


class ExistingObjects:
    """The existing objects among an update's creates; each is looked up once."""

    def __init__(
        self, stack_file: StackFile, *, sandbox: bool, reach: Reach = reached_api_server
    ) -> None:
        self._file, self._sandbox, self._reach = stack_file, sandbox, reach
        self._asked: set[KubernetesCreate] = set()
        self.found: list[KubernetesCreate] = []

    def look(self, steps: Sequence[Step]) -> bool:
        """Return whether any was found so far; a cluster that does not respond has none."""
        cluster = existing_cluster(steps)
        asked = [each for each in kubernetes_creates(steps) if each not in self._asked]
        if cluster and asked:
            self._asked.update(asked)
            self.found += self._existing(cluster, asked)
        return bool(self.found)

    def explanation(self) -> str:
        """Return a message: which objects exist, and the commands that resolve the conflict."""
        lines = [
            (
                "nothing was changed, because the cluster already has objects that this update "
                "would create and that are not in the state of the stack; it would fail with "
                '"already exists":'
            )
        ]
        for each in self.found:
            lines.append(f"  {each.kind} {each.identifier} ({each.logical_name})")
            lines += [f"    {line}" for line in self._commands(each)]
        again = self._file.command("up", sandbox=self._sandbox)
        return "\n".join([*lines, f"  then continue:  {again}"])

    def _commands(self, each: KubernetesCreate) -> list[str]:
        path = kubeconfig_path(self._file, sandbox=self._sandbox)
        found = [
            f"delete it:  {kubectl_command(path, sandbox=self._sandbox)} {each.delete_command()}"
        ]
        if each.parent and not self._sandbox:
            is_local = self._file.name == self._file.path.name
            extra = [] if is_local else ["--config-file", str(self._file.path)]
            adopt = each.import_command(stack=self._file.stack, extra=extra)
            found.append(f"or import it:  {adopt}")
        return found

    def _existing(
        self, cluster: str, creates: Iterable[KubernetesCreate]
    ) -> list[KubernetesCreate]:
        try:
            with self._reach(self._file, cluster, sandbox=self._sandbox) as get:
                return [] if get is None else existing(creates, get)
        except (AccountUnreachableError, ClusterUnreadableError, failures.CommandError) as error:
            why = str(error)
        except (LookupError, TypeError, AttributeError):
            why = "its response is invalid"
        console.progress(
            f"could not check whether cluster {cluster} has objects of the same names: {why}"
        )
        return []


def existing(creates: Iterable[KubernetesCreate], get: Get) -> list[KubernetesCreate]:
    """Return the objects that exist on an API server."""
    kinds: dict[str, Mapping[str, Any]] = {}
    found: list[KubernetesCreate] = []
    for each in creates:
        if each.api_version not in kinds:
            answer = get(api_root(each.api_version)) or {}
            # Skip subresources such as `daemonsets/status`, which have the same kind.
            resources = (r for r in answer.get("resources") or () if "/" not in r["name"])
            kinds[each.api_version] = {r["kind"]: r for r in resources}
        kind = kinds[each.api_version].get(each.kind)
        if kind is None:
            continue  # the update creates its definition
        path = each.api_path(plural=kind["name"], namespaced=kind["namespaced"])
        if get(path) is not None:
            found.append(each)
    return found
