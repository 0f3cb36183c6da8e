"""What a Pulumi command of the user would do to the stack files, from its arguments.

Source: https://github.com/pulumi/pulumi/tree/v3.260.0/pkg/cmd/pulumi, `pulumi.go` for the flags of
every command, `stack/stack_remove.go`, `stack/stack_rename.go`, `operations/destroy.go` and
`config/config.go`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_GLOBAL_VALUES = frozenset(
    {
        *("--color", "--cwd", "-C", "--memprofilerate", "--otel-traces", "--profiling"),
        *("--tracing", "--tracing-header", "--verbose", "-v"),
    }
)
_VALUES = frozenset({"--config-file", "--stack", "-s", "--type"})
"""Flags with a value of the commands that change stack files."""
_USE_A_BACKEND = frozenset(
    {
        *("cancel", "config", "console", "destroy", "import", "logs", "preview", "refresh"),
        *("stack", "state", "up", "update", "watch", "whoami"),
    }
)
_NAMES_STACK = frozenset({("stack", "init"), ("stack", "select")})
"""Commands with the name of a stack as their argument."""
_REMOVE = frozenset({"rm", "remove", "delete"})
PRESERVE_CONFIG = "--preserve-config"


@dataclass(frozen=True, slots=True)
class PulumiArguments:
    """The arguments of `pulumi`, separated into words and flags."""

    given: tuple[str, ...]
    words: tuple[str, ...]
    """The command and its positional arguments."""
    flags: frozenset[str]
    """Names of flags, such as `--force`."""
    stack: str = ""
    """Value of `--stack`."""

    @property
    def subject(self) -> str:
        """Name of the stack that the command is about; empty if it names none."""
        positional = self.words[:2] in _NAMES_STACK or self._removes_stack
        name = self.stack or (self.words[2] if positional and self.words[2:3] else "")
        return name.rpartition("/")[2]

    @property
    def uses_backend(self) -> bool:
        """Whether the command needs a login."""
        return self.words[:1] != () and self.words[0] in _USE_A_BACKEND and not self._asks_for_help

    @property
    def edits_stack_file_only(self) -> bool:
        """Whether it sets or removes plain values of one named stack, which needs no backend."""
        edits = self.words[:2] in (("config", "set"), ("config", "rm"))
        return edits and bool(self.stack) and not {"--secret", "-h", "--help"} & self.flags

    @property
    def _removes_stack(self) -> bool:
        return self.words[:1] == ("stack",) and self.words[1:2] != () and self.words[1] in _REMOVE

    @property
    def _asks_for_help(self) -> bool:
        return bool({"-h", "--help"} & self.flags)

    @property
    def new_name(self) -> str:
        """The name to which `stack rename` renames a stack; empty for other commands."""
        name = self.words[2] if self.words[:2] == ("stack", "rename") and self.words[2:3] else ""
        return name.rpartition("/")[2]

    def preserving_config(self) -> tuple[str, ...]:
        """Return the arguments with which `stack rm` keeps the stack file."""
        if not self._removes_stack or PRESERVE_CONFIG in self.flags or self._asks_for_help:
            return self.given
        return (*self.given, PRESERVE_CONFIG)

    def loss(self) -> str:
        """Return why the command would lose a stack file, with what to do; empty if it does not."""
        if self.words[:1] == ("destroy",) and "--remove" in self.flags:
            return (
                "`destroy --remove` also deletes the stack file. Omit --remove; to remove the "
                "empty stack afterwards, use `stack rm STACK`, which keeps the stack file here"
            )
        if self.words[:2] == ("config", "refresh") and {"--force", "-f"} & self.flags:
            return (
                "`config refresh --force` overwrites the stack file without a backup. Omit "
                "--force: Pulumi then keeps the old file as Pulumi.STACK.yaml.bak"
            )
        return ""


def parse(arguments: Sequence[str]) -> PulumiArguments:
    """Separate the arguments of `pulumi` into words and flags, as far as stack files need it."""
    words: list[str] = []
    flags: set[str] = set()
    stack, rest = "", iter(arguments)
    for argument in rest:
        if argument == "--":
            words.extend(rest)
        elif not argument.startswith("-"):
            words.append(argument)
        else:
            name, equals, value = argument.partition("=")
            flags.add(name)
            if not equals and name in _GLOBAL_VALUES | _VALUES:
                value = next(rest, "")
            if name in ("--stack", "-s"):
                stack = value
    return PulumiArguments(tuple(arguments), tuple(words), frozenset(flags), stack)
