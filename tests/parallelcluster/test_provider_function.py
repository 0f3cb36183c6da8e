"""Whether the provider stack in a stack file can create a cluster."""

import pytest

from components.account.preflight_facts import FunctionFacts, PreflightFacts
from components.parallelcluster.provider_function import provider_rows
from tests.support.parallelcluster_accounts import configured
from tests.support.parallelcluster_configs import raw_p4de

TOKEN = "arn:aws:lambda:us-west-2:123456789012:function:pcluster-provider"


@pytest.mark.parametrize(
    ("functions", "verdict"),
    [
        ({TOKEN: FunctionFacts(state="Active")}, "ok"),
        ({TOKEN: FunctionFacts(state="Failed")}, "refused"),
        ({}, "refused"),
    ],
)
def test_the_provider_of_parallelcluster_must_answer(functions, verdict):
    raw = raw_p4de(architecture__deployment={"provider_service_token": TOKEN})
    (row,) = provider_rows(configured(raw), PreflightFacts(provider_functions=functions))
    assert row.verdict == verdict
