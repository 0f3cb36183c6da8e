"""The checked configuration of a stack file, its plan, and the configuration of the policy pack."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from components import clock
from tools.cli import console
from tools.workspace.stack_files import PROFILE_KEY, REGION_KEY, StackFile

if TYPE_CHECKING:
    from components.architectures.registry import AnyPlan
    from components.config.network import ExistingVpc, StackNetwork
    from components.config.stack_models import AnyStackConfig
    from tools.findings.finding import Stage
    from tools.workspace.workspace import Workspace


def refusing_stage(stack_file: StackFile) -> Stage:
    """Return the stage that rejects a stack file: schema, plan, or account."""
    from components.config.problems import ConfigError

    try:
        config_of(stack_file)
    except ConfigError:
        return "schema"
    try:
        plan_of(stack_file)
    except ConfigError:
        return "plan"
    return "preflight"


def plan_of(stack_file: StackFile) -> AnyPlan:
    """Return the plan of a stack file, from schema and plan only.

    Raises:
        ConfigError: the configuration is invalid; the error lists every problem.
    """
    from components.architectures.plan_stack import plan_stack

    return plan_stack(
        config_of(stack_file),
        stack_file=stack_file.name,
        region=stack_file.region,
        now=clock.now(),
    )


def config_of(
    stack_file: StackFile, *, network_of: Callable[[StackNetwork], ExistingVpc] | None = None
) -> AnyStackConfig:
    """Return the configuration of a stack file, validated by the schema.

    `network_of` looks up the network of another stack; without it, placeholders replace its ids.

    Raises:
        ConfigError: the configuration is invalid; the error lists every problem.
    """
    from components.config.load import load_stack_config
    from components.config.network import unread_network
    from components.config.problems import ConfigError
    from components.config.provider_settings import provider_problems

    name = stack_file.name
    missing = provider_problems(
        region=stack_file.config.get(REGION_KEY),
        profile=stack_file.config.get(PROFILE_KEY),
        stack_file=name,
    )
    try:
        config = load_stack_config(
            stack_file.cluster,
            stack_file=name,
            stray_keys=stack_file.stray_keys,
            written=stack_file.written,
            network_of=network_of or unread_network,
        )
    except ConfigError as error:
        raise ConfigError([*missing, *error.problems], stack_file=name) from error
    if config.policies:  # on demand, because importing the pack takes a second
        from policies.pack.stack_config import unknown_rules

        missing += unknown_rules(config, stack_file=name)
    if missing:
        raise ConfigError(missing, stack_file=name)
    return config


def _warned(stack_file: StackFile, *, live: bool, sandbox: bool) -> tuple[str, ...]:
    if not live:
        plan_of(stack_file)
        return ()
    from components.architectures.lookup import look_up
    from components.architectures.prepare import prepare
    from tools.cli.stack_references import network_reader

    config = config_of(stack_file, network_of=network_reader(stack_file, sandbox=sandbox))
    prepared = prepare(
        config,
        look_up(config, region=stack_file.region),
        stack_file=stack_file.name,
        region=stack_file.region,
        now=clock.now(),
    )
    return prepared.warnings


def refuse_wrong_config(stack_file: StackFile, *, live: bool, sandbox: bool = False) -> None:
    """Reject an invalid configuration before the engine starts.

    Raises:
        ConfigError: schema, plan or account reject it; the error lists every problem.
        AccountUnreachableError: the account cannot be queried.
    """
    for warning in _warned(stack_file, live=live, sandbox=sandbox):
        console.progress(f"warning: {warning}")


def policy_pack(workspace: Workspace) -> list[str]:
    """Return the arguments that attach the pack, with its configuration from the stack file."""
    import json

    from policies.pack.stack_config import pack_config
    from tools.workspace.files import write_whole
    from tools.workspace.stack_files import ROOT

    path = workspace.scratch / f"{workspace.stack_file.stack}.policies.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps(pack_config(config_of(workspace.stack_file)), indent=2)
    write_whole(path, content)
    return ["--policy-pack", str(ROOT / "policies"), "--policy-pack-config", str(path)]
