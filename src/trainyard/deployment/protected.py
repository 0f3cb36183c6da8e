"""Protected resources that `destroy` leaves, and how to remove them.

Source: https://www.pulumi.com/docs/iac/cli/commands/pulumi_destroy/: `--exclude-protected` deletes
everything except protected resources and their dependencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.components.config.problems import ROOT, set_command
from trainyard.components.storage.storage_plan import STORAGE_TAG
from trainyard.components.tagging import RESERVATION_TAG
from trainyard.components.typed_command import pulumi_command
from trainyard.workspace.exported_state import exported_state, refuse_newer_state, resources_of
from trainyard.workspace.target import Target
from trainyard.workspace.urns import name_of
from trainyard.workspace.workspace import Workspace

FLAG = "--exclude-protected"
_SWITCHES = {
    "trainyard:architectures:NetworkArchitecture$": "architecture.deletion_protection",
    "trainyard:batch:ContainerRepository$": "architecture.repository.deletion_protection",
}
"""Stack file keys that protect all resources below a component of this type, per their URN."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An object that exists in the account and in the state."""

    urn: str
    type: str
    identifier: str
    protected: bool
    entry: str | None
    """Entry of the stack file that it belongs to, such as `storage.data`."""
    retained: bool = False
    """Whether a deletion from the stack leaves it in the account (`retain_on_delete`)."""
    adopted: bool = False
    """Whether it existed before the stack, which only keeps it."""

    @property
    def line(self) -> str:
        """Id, type and logical name."""
        return f"{self.identifier}  {self.type}  {name_of(self.urn)}"


def kept_objects(workspace: Workspace) -> tuple[Kept, ...]:
    """Return the objects in the state.

    Raises:
        NewerStateError: a newer version of trainyard has written it.
    """
    stack = workspace.stack_file.stack
    exported = exported_state(workspace.command, stack)
    refuse_newer_state(exported, stack)
    return read_state(exported)


def read_state(exported: Mapping[str, Any]) -> tuple[Kept, ...]:
    """Return the objects of an exported state, without components and providers."""
    return tuple(
        Kept(
            urn=each["urn"],
            type=each["type"],
            identifier=each.get("id", ""),
            protected=bool(each.get("protect")),
            entry=_entry_of(each.get("inputs") or {}),
            retained=bool(each.get("retainOnDelete")),
            adopted=bool(each.get("retainOnDelete") and each.get("importID")),
        )
        for each in resources_of(exported)
        if each.get("custom")
        and not each["type"].startswith("pulumi:")
        and not each.get("external")
        and not each.get("delete")
    )


def _entry_of(inputs: Mapping[str, Any]) -> str | None:
    tags = inputs.get("tags")
    # On an Auto Scaling group, tags are a list.
    if not isinstance(tags, Mapping):
        return None
    sections = {"storage": tags.get(STORAGE_TAG), "reservations": tags.get(RESERVATION_TAG)}
    return next((f"{section}.{name}" for section, name in sections.items() if name), None)


def explanation(kept: Iterable[Kept], before: Iterable[Kept], *, target: Target) -> str:
    """Return a message: what remains after a destroy, and how to remove it."""
    everything = tuple(kept)
    untouched = {each.urn for each in everything} == {each.urn for each in before}
    needed = [each.line for each in everything if not each.protected]
    own = [each for each in everything if not each.adopted]
    stack = target.stack
    return "\n".join(
        [
            f"nothing of {stack} was destroyed, because all of it is protected:"
            if untouched
            else f"{stack} was destroyed, except for protected resources:",
            *(f"  {each.line}" for each in everything if each.protected),
            *(
                [
                    "kept because protected resources depend on them:",
                    *(f"  {line}" for line in needed),
                ]
                if needed
                else []
            ),
            *(_how_to_delete(own, target) if own else _how_to_release(target)),
            *(
                ["what the stack adopted stays in the account, and leaves the stack last"]
                if own and len(own) < len(everything)
                else []
            ),
        ]
    )


def _how_to_delete(own: Iterable[Kept], target: Target) -> list[str]:
    """Return how to delete what the stack created."""
    return [
        "the next `up` uses them again. To delete them and their data:",
        *(f"  {command}" for command in _unprotect(own, target)),
        f"  {target.command('up')} --yes",
        f"  {target.command('destroy')} --yes",
    ]


def _how_to_release(target: Target) -> list[str]:
    """Return how to remove from the stack what it adopted."""
    unprotect = f"state unprotect --stack {target.stack} --all --yes"
    return [
        (
            "the next `up` uses them again. The stack adopted them, so they stay in the account. "
            "To remove them from the stack:"
        ),
        f"  {_in_account(target, unprotect)}",
        f"  {target.command('destroy')} --yes",
    ]


def how_to_forget(target: Target) -> str:
    """Return a message that corrects the last line of the engine's `destroy`.

    The engine suggests `pulumi stack rm`, which deletes the stack file too unless it is told not
    to: https://www.pulumi.com/docs/iac/cli/commands/pulumi_stack_rm/
    """
    warning = (
        f"{target.stack_file.name} is kept for the next `up`. Do not run `pulumi stack rm "
        f"{target.stack}` as it is: it deletes {target.stack_file.name}."
    )
    if target.is_sandbox:
        return warning
    return (
        f"{warning} To remove only the empty stack and its history:\n"
        f"  {pulumi_command(' '.join(forget_arguments(target.stack)))}"
    )


def forget_arguments(stack: str) -> tuple[str, ...]:
    """Return the arguments of `pulumi` that remove an empty stack and keep its stack file."""
    return ("stack", "rm", stack, "--preserve-config")


def _unprotect(kept: Iterable[Kept], target: Target) -> list[str]:
    """Return the commands that remove protection set by components and protection set by hand."""
    commands: list[str] = []
    for each in kept:
        switch = _switch(each)
        if each.protected and switch:
            commands.append(
                set_command(f"{ROOT}.{switch}", "false", stack_file=target.stack_file.name)
            )
        elif each.protected:
            unprotect = f"state unprotect --stack {target.stack} '{each.urn}' --yes"
            commands.append(_in_account(target, unprotect))
    return list(dict.fromkeys(commands))


def _in_account(target: Target, arguments: str) -> str:
    """Return a command of `pulumi`, which takes the option that selects the account first."""
    return pulumi_command(f"{target.account.option} {arguments}".lstrip())


def _switch(kept: Kept) -> str | None:
    """Return the key of the stack file that protects an object; None if there is none."""
    if kept.entry:
        return f"{kept.entry}.deletion_protection"
    return next((key for parent, key in _SWITCHES.items() if parent in kept.urn), None)
