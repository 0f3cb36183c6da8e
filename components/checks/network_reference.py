"""Problems of a network that comes from another stack.

The stack file does not contain its ids, so its keys cannot be changed there.
"""

from __future__ import annotations

from dataclasses import replace

from trainyard.components.config.problems import ROOT, Problem

_NETWORK = f"{ROOT}.network"


def at_reference(problem: Problem, stack: str | None) -> Problem:
    """Return a problem with key and remedy for a stack file that references `stack`.

    Other problems, and problems of a network in the stack file itself (`stack` is None), are
    returned unchanged.
    """
    if stack is None or not f"{problem.path}.".startswith(f"{_NETWORK}."):
        return problem
    return replace(
        problem,
        path=f"{_NETWORK}.stack",
        found=stack if problem.found is None else f"{stack}, with {problem.found}",
        allowed="a stack of `kind: network` in this account and region whose network fits",
        remedy=f"change the network in the stack file of {stack} and deploy it again, or name "
        "another stack",
    )
