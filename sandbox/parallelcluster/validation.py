"""Validate cluster configurations with ParallelCluster, in an environment that has it.

The request is a JSON object on standard input, the response one on standard output:

- `{"call": "validate", "configs": {name: {"config": …, "suppress": [validator, …]}}}`: by name
  `{"loaded": bool, "messages": [{"level", "validator", "text"}]}`, from ParallelCluster's schema
  and its validators against the account at `AWS_ENDPOINT_URL`;
- `{"call": "read", "configs": [config, …]}`: for each the loaded configuration, every value
  in its own type; calls no account;
- `{"call": "update_check", "changes": [{"old": …, "new": …}]}`: for each
  `{"allowed": bool, "rows": [{…}]}`, the result of the update check of a running cluster;
  calls no account.

Code in the same environment calls `validate` and `update_check` directly. ParallelCluster is
imported at the first call, because the import takes seconds, and because this module is also
imported in environments without it.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import json
import logging
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

SCHEMA_VALIDATOR = "ConfigSchemaValidator"
"""Validator name in ParallelCluster's API for a configuration that its schema does not load.

https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/models/cluster.py
"""


@contextlib.contextmanager
def _one_session() -> Iterator[None]:
    """Make one session of the AWS SDK where ParallelCluster makes one for each look at its region.

    It looks at each call of AWS and at each volume, which is 60 % of the time of a validation.
    `get_region` and `_log_boto3_calls` in
    https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/aws/common.py
    """
    sessions = importlib.import_module("boto3.session")
    with mock.patch.object(sessions, "Session", functools.cache(sessions.Session)):
        yield


@_one_session()
def validate(
    config: Mapping[str, Any], *, cluster_name: str, suppress: Collection[str] = ()
) -> dict[str, Any]:
    """Load and validate one configuration.

    Scripts at https addresses are assumed to exist: they are on the internet, not in the account.

    Args:
        config: The configuration, as `pcluster create-cluster` reads it.
        cluster_name: Name of the cluster: at most 60 letters, digits and hyphens.
        suppress: Names of the validators to skip, as in `SuppressValidators` but without `type:`;
            `ALL` skips all.

    Returns:
        `loaded` and `messages`, as in the module docstring. An AWS error at which ParallelCluster
        fails is a separate message with the error's class as the validator.
    """
    _forget()
    unreadable = importlib.import_module("marshmallow").ValidationError
    try:
        cluster = _schema(cluster_name).load(copy.deepcopy(dict(config)))
    except unreadable as error:
        said = sorted(error.messages.items()) if isinstance(error.messages, dict) else error
        return _verdict(loaded=False, messages=[_message("ERROR", SCHEMA_VALIDATOR, str(said))])
    except Exception as error:
        return _verdict(loaded=False, messages=[_gave_up(error)])
    try:
        with _scripts_on_the_internet_exist():
            context = _module("validators.common").ValidatorContext()
            found = cluster.validate(_suppressors(suppress), context)
    except Exception as error:
        return _verdict(loaded=True, messages=[_gave_up(error)])
    messages = [_message(each.level.name, each.validator_type, each.message) for each in found]
    return _verdict(loaded=True, messages=messages)


def read(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration as ParallelCluster's objects hold it, written back by its schema.

    Two configurations that read alike make the same cluster.

    Raises:
        marshmallow.ValidationError: the schema does not load it.
    """
    schema = _schema("read")
    return dict(schema.dump(schema.load(copy.deepcopy(dict(config)))))


def update_check(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes that `pcluster update-cluster` rejects while the compute fleet runs.

    Args:
        old: The configuration of the running cluster.
        new: The requested configuration.

    Returns:
        `allowed`, and `rows`: those of the report, with `param_path`, `parameter`, `old value`,
        `new value`, `check`, `reason`, `action_needed` and `update_policy`. A change that is
        allowed has no row unless ParallelCluster prints it.
    """
    cluster = RunningCluster(old)
    patch = _module("config.config_patch").ConfigPatch(cluster, dict(old), dict(new))
    allowed, (headings, *rows) = patch.check()
    return {"allowed": allowed, "rows": [dict(zip(headings, row, strict=True)) for row in rows]}


@dataclass(frozen=True)
class RunningCluster:
    """The state that ParallelCluster reads of the cluster to change: all its parts run."""

    config: Mapping[str, Any]
    """Its configuration."""
    name: str = "running"
    stack_name: str = "running"

    @property
    def head_node_instance(self) -> RunningCluster:
        """The head node, of which only the state is read."""
        return self

    @property
    def state(self) -> str:
        """State of the head node's instance."""
        return "running"

    def has_running_capacity(self, *_: Any, **__: Any) -> bool:
        """Whether the compute fleet runs."""
        return True

    def has_running_login_nodes(self, pool_name: str | None = None) -> bool:
        """Whether login nodes of a pool run; None for any pool."""
        pools = (self.config.get("LoginNodes") or {}).get("Pools") or []
        asked = [pool for pool in pools if pool_name in (None, pool.get("Name"))]
        return any(int(pool.get("Count") or 0) > 0 for pool in asked)


def main() -> None:
    """Handle the request on standard input."""
    logging.disable(logging.CRITICAL)  # it logs what it returns as well
    request = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        answer = _answer(request)
    json.dump(answer, sys.stdout, default=str)


def _answer(request: Mapping[str, Any]) -> Any:
    match request["call"]:
        case "validate":
            return {
                name: validate(each["config"], cluster_name=name, suppress=each["suppress"])
                for name, each in request["configs"].items()
            }
        case "read":
            return [read(config) for config in request["configs"]]
        case "update_check":
            return [update_check(each["old"], each["new"]) for each in request["changes"]]
        case call:
            raise ValueError(
                f"no call is named {call!r}; there are validate, read and update_check"
            )


def _forget() -> None:
    """Clear ParallelCluster's cache of AWS responses, which lasts as long as the process."""
    _module("aws.common").Cache.clear_all()
    _module("aws.aws_api").AWSApi.reset()
    # Results for scripts are cached for ten seconds with their warnings, so the next configuration
    # with the same script would have no warnings.
    answers = _module("validators.s3_validators").UrlValidator._validate_async.__closure__  # noqa: SLF001
    for cell in answers:
        if isinstance(cell.cell_contents, dict):
            cell.cell_contents.clear()


def _schema(cluster_name: str) -> Any:
    return _module("schemas.cluster_schema").ClusterSchema(cluster_name=cluster_name)


def _suppressors(names: Collection[str]) -> list[Any]:
    common = _module("config.common")
    if "ALL" in names:
        return [common.AllValidatorsSuppressor()]
    return [common.TypeMatchValidatorsSuppressor(set(names))] if names else []


@contextlib.contextmanager
def _scripts_on_the_internet_exist() -> Iterator[None]:
    # It opens the address and closes it again, which a mock supports.
    with mock.patch.object(_module("validators.s3_validators"), "urlopen"):
        yield


def _module(name: str) -> Any:
    return importlib.import_module(f"pcluster.{name}")


def _verdict(*, loaded: bool, messages: list[dict[str, str]]) -> dict[str, Any]:
    return {"loaded": loaded, "messages": messages}


def _gave_up(error: Exception) -> dict[str, str]:
    return _message("ERROR", type(error).__name__, str(error))


def _message(level: str, validator: str, text: str) -> dict[str, str]:
    return {"level": level, "validator": validator, "text": text}


if __name__ == "__main__":
    main()
