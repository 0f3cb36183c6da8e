"""Problems with a network that the stack file takes from another stack.

Its ids do not stand in the stack file, so that no key of theirs can be changed there.
"""

from __future__ import annotations

from dataclasses import replace

from components.config.problems import ROOT, Problem

_NETWORK = f"{ROOT}.network"


def at_reference(problem: Problem, stack: str | None) -> Problem:
    """Return a problem as the stack file that names `stack` can mend it.

    Problems of anything else than the network, or of a network that the file gives itself (`stack`
    is None), stay as they are.
    """
    if stack is None or not f"{problem.path}.".startswith(f"{_NETWORK}."):
        return problem
    return replace(
        problem,
        path=f"{_NETWORK}.stack",
        found=stack if problem.found is None else f"{stack}, with {problem.found}",
        allowed="a stack of `kind: network` in this account and region whose network fits",
        remedy=f"change the network in the stack file of {stack} and bring it up again, or name "
        "another stack",
    )
