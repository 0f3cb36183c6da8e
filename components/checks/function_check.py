"""Account checks of the Lambda function of a ParallelCluster provider stack.

Source: https://docs.aws.amazon.com/lambda/latest/api/API_GetFunctionConfiguration.html
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.named_facts import FunctionFacts
from trainyard.components.checks.noun import NamedContext
from trainyard.components.config.named import Named
from trainyard.components.config.problems import ROOT, Problem


def function_problems(
    use: Named, found: FunctionFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why the provider could not create a cluster."""
    if found is None or found.state == "Failed":
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=use.name if found is None else f"{use.name}, {found.state}",
            problem="no function answers for this provider, so the cluster is never made",
            remedy="copy the output ServiceToken of the provider stack, or remove the key",
        )
