"""Whether the provider stack in a stack file can create a cluster.

Source: https://docs.aws.amazon.com/lambda/latest/api/API_GetFunctionConfiguration.html
"""

from __future__ import annotations

from collections.abc import Iterator

from components.account.lookup import AccountReader
from components.account.preflight_facts import FunctionFacts, PreflightFacts
from components.checks.row import Row, ok, refused, skipped
from components.config.parallelcluster_stack import ParallelClusterStackConfig
from components.config.problems import ROOT, Problem

GET_FUNCTION = "lambda:GetFunctionConfiguration"
PROVIDER = "the provider of ParallelCluster exists"


def look_up_function(reader: AccountReader, arn: str) -> dict[str, FunctionFacts]:
    """Return the function, by its ARN."""
    do = reader.client("lambda").get_function_configuration
    answer = reader.ask_or_none(GET_FUNCTION, do, FunctionName=arn)
    return {arn: FunctionFacts(state=answer.get("State", "Active"))} if answer else {}


def provider_rows(config: ParallelClusterStackConfig, more: PreflightFacts) -> Iterator[Row]:
    """Yield a row on the function of the provider stack, if the stack file has one."""
    key = "architecture.deployment.provider_service_token"
    arn = config.architecture.deployment.provider_service_token
    if arn is None:
        return
    reason = more.why_not(GET_FUNCTION)
    found = more.provider_functions.get(arn)
    if reason is not None:
        yield skipped(key, PROVIDER, reason)
    elif found is not None and found.state != "Failed":
        yield ok(key, PROVIDER, f"{arn}, {found.state}")
    else:
        yield refused(
            PROVIDER,
            Problem(
                path=f"{ROOT}.{key}",
                found=arn if found is None else f"{arn}, {found.state}",
                problem="this provider has no active function, so the cluster would not be created",
                remedy="copy the output ServiceToken of the provider stack, or remove the key",
            ),
        )
