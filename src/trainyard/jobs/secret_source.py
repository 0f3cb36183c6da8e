"""Where a program gets a secret from: the place of the value, never the value.

A reference is `secret/NAME/KEY` (a key of a Kubernetes Secret, as `kubectl` spells a Secret), an
ARN as AWS Batch takes it, or the path of a file on the head node of a Slurm cluster. Messages do
not repeat what was given: somebody may have pasted the value.

Source:
    https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data: names and keys
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trainyard.components.catalog.secret_arns import SecretArn, secret_arn
from trainyard.jobs.nodes import JobError

FORMS = (
    "secret/NAME/KEY (a Kubernetes Secret), an ARN of Secrets Manager or Parameter Store (AWS "
    "Batch), or the path of a file on the head node (Slurm)"
)
"""The forms of a reference."""
_LABEL = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_KUBERNETES = re.compile(
    rf"secret/(?P<name>(?=.{{1,253}}/){_LABEL}(?:\.{_LABEL})*)/(?P<key>[A-Za-z0-9._-]{{1,253}})"
)
_FILE = re.compile(r"~?(?:/[A-Za-z0-9._@+=,-]+)+")


@dataclass(frozen=True, slots=True)
class KubernetesKey:
    """A key of a Secret in the namespace of the job."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class HeadNodeFile:
    """A file of the user on the head node of a Slurm cluster, which all nodes can read."""

    path: str
    """Absolute, or in the home directory of the user (`~/`)."""


SecretSource = KubernetesKey | SecretArn | HeadNodeFile


def secret_source(reference: str) -> SecretSource:
    """Return what a reference names.

    Raises:
        ValueError: it has none of the forms.
    """
    if found := _KUBERNETES.fullmatch(reference):
        return KubernetesKey(found["name"], found["key"])
    if arn := secret_arn(reference):
        return arn
    if _FILE.fullmatch(reference) and ".." not in reference.split("/"):
        return HeadNodeFile(reference)
    raise ValueError(f"is no place of a secret: {FORMS}")


def secret_sources(references: Iterable[tuple[str, str]]) -> dict[str, SecretSource]:
    """Return what references name, by environment variable.

    Raises:
        JobError: some have none of the forms.
    """
    found: dict[str, SecretSource] = {}
    wrong: list[str] = []
    for name, reference in references:
        try:
            found[name] = secret_source(reference)
        except ValueError:
            wrong.append(name)
    if wrong:
        raise JobError(f"the secret {', '.join(wrong)} has no place that exists: write {FORMS}")
    return found


def keys_in_kubernetes(secrets: Mapping[str, SecretSource]) -> dict[str, KubernetesKey]:
    """Return the secrets of a job of EKS.

    Raises:
        JobError: a pod cannot get one of them.
    """
    others = {name: each for name, each in secrets.items() if not isinstance(each, KubernetesKey)}
    if others:
        raise JobError(_refusal("EKS", others, _INTO_KUBERNETES))
    return {name: each for name, each in secrets.items() if isinstance(each, KubernetesKey)}


def arns_for_batch(secrets: Mapping[str, SecretSource]) -> dict[str, SecretArn]:
    """Return the secrets of a job of AWS Batch.

    Raises:
        JobError: a container cannot get one of them.
    """
    others = {name: each for name, each in secrets.items() if not isinstance(each, SecretArn)}
    if others:
        raise JobError(_refusal("AWS Batch", others, _INTO_SECRETS_MANAGER))
    return {name: each for name, each in secrets.items() if isinstance(each, SecretArn)}


def files_on_head_node(secrets: Mapping[str, SecretSource]) -> dict[str, HeadNodeFile]:
    """Return the secrets of a job of Slurm.

    Raises:
        JobError: a job cannot get one of them.
    """
    others = {name: each for name, each in secrets.items() if not isinstance(each, HeadNodeFile)}
    if others:
        raise JobError(_refusal("Slurm", others, _INTO_A_FILE))
    return {name: each for name, each in secrets.items() if isinstance(each, HeadNodeFile)}


_INTO_KUBERNETES = (
    "takes secrets from Kubernetes",
    "{read} | tr -d '\\n' | kubectl create secret generic {secret} --from-file=value=/dev/stdin",
    "secret/{secret}/value",
)
_CREATE = "aws secretsmanager create-secret --name {secret} --secret-string file:///dev/stdin"
_INTO_SECRETS_MANAGER = (
    "takes secrets from Secrets Manager and Parameter Store",
    f"{{read}} | tr -d '\\n' | {_CREATE}",
    "ARN",
)
_INTO_A_FILE = (
    "takes secrets from files of the head node",
    "(umask 077; mkdir -p ~/.secrets; {read} > ~/.secrets/{secret})    # on the head node",
    "~/.secrets/{secret}",
)
"""What a scheduler takes, the command that makes one, and its reference. No command has the value
among its arguments, which all users of a machine can read."""


def _refusal(scheduler: str, others: Mapping[str, SecretSource], fix: tuple[str, str, str]) -> str:
    takes, command, reference = fix
    lines = [f"{scheduler} {takes}, and a secret of this job is elsewhere: {', '.join(others)}"]
    for name, source in others.items():
        secret = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
        made = command.format(read=_reading(source), secret=secret)
        option = f"{name}={reference.format(secret=secret)}"
        lines += [f"  make it:  {made}", f"  name it:  --secret {shlex.quote(option)}"]
    return "\n".join(lines)


def _reading(source: SecretSource) -> str:
    """Return the command that prints a secret.

    https://docs.aws.amazon.com/cli/latest/reference/secretsmanager/get-secret-value.html and
    https://docs.aws.amazon.com/cli/latest/reference/ssm/get-parameter.html
    """
    if isinstance(source, SecretArn):
        if source.service == "ssm":
            return (
                f"aws ssm get-parameter --region {source.region} --name {source.parameter} "
                "--with-decryption --query Parameter.Value --output text"
            )
        key = f" | jq -r '.{source.json_key}'" if source.json_key else ""
        return (
            f"aws secretsmanager get-secret-value --region {source.region} --secret-id "
            f"{source.arn} --query SecretString --output text{key}"
        )
    if isinstance(source, KubernetesKey):
        key = source.key.replace(".", r"\.")
        path = shlex.quote(f"jsonpath={{.data.{key}}}")
        return f"kubectl get secret {source.name} -o {path} | base64 -d"
    return f"cat {source.path}"
