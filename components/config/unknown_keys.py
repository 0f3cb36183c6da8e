"""Problems of keys that the schema does not have."""

from __future__ import annotations

from trainyard.components.config.finding import Finding
from trainyard.components.config.foreign_keys import ForeignKey, foreign_key
from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.keys import kinds_with, model_at, value_at
from trainyard.components.config.nearest import nearest
from trainyard.components.config.problems import Problem, remove_command
from trainyard.components.look_alikes import odd_characters


def explain_unknown_key(finding: Finding) -> list[Problem]:
    """Return the problem of a key that does not exist here, with the key that is meant."""
    parents = finding.location[:-1]
    model = model_at(GivenStack, finding.raw, parents)
    keys = sorted(model.model_fields) if model else []
    kinds = [f"`kind: {each}`" for each in kinds_with(GivenStack, finding.raw, finding.location)]
    remove = remove_command(finding.path, stack_file=finding.stack_file)
    if model is not None and kinds:
        own = value_at(finding.raw, (*parents, "kind"))
        problem = f"belongs to {' or '.join(kinds)}, but this is `kind: {own}`"
        remedy = f"{remove}; or change `kind`, and set the keys of that kind"
    else:
        problem, remedy = _unknown(finding, keys, remove)
    return [
        Problem(
            path=finding.path,
            problem=problem,
            found=finding.found,
            allowed=", ".join(keys),
            remedy=remedy,
        )
    ]


def _unknown(finding: Finding, keys: list[str], remove: str) -> tuple[str, str]:
    """Return the problem and the fix of a key that no kind has here."""
    key = str(finding.location[-1])
    odd = odd_characters(key)
    problem = "is not a valid key here" + (f": it contains {odd}" if odd else "")
    foreign = foreign_key(key, keys)
    if foreign is not None:
        return _of_another_tool(problem, foreign, finding, remove)
    meant = nearest(key, keys)
    if meant is None:
        return problem, remove
    return f"{problem}; the nearest is `{meant}`", _renamed(meant, finding, remove)


def _of_another_tool(
    problem: str, foreign: ForeignKey, finding: Finding, remove: str
) -> tuple[str, str]:
    hint = f"; {foreign.hint}" if foreign.hint else ""
    if foreign.here:
        said = f"{problem}; here it is called `{foreign.ours}`"
        return said, f"{_renamed(foreign.ours, finding, remove)}{hint}"
    return f"{problem}; it is `{foreign.ours}` of the stack file", f"{remove}{hint}"


def _renamed(meant: str, finding: Finding, remove: str) -> str:
    if value_at(finding.raw, (*finding.location[:-1], meant)) is not None:
        return f"{remove}; `{meant}` is set already"
    return f"rename it to `{meant}`, or: {remove}"
