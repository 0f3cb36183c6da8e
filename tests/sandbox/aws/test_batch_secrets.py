"""Jobs with secrets in the emulated account: ECS reads them with the execution role, or says why.

The texts are those of the ECS agent (agent/taskresource/asmsecret, .../ssmsecret, agent/asm).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.batch_account import Batch, small
from tests.support.sandbox_aws import Account

ROLE = "arn:aws:iam::123456789012:role/reads-secrets"
READS = {"Effect": "Allow", "Action": ["secretsmanager:GetSecretValue", "ssm:GetParameters"]}


@pytest.fixture
def batch(account: Account) -> Batch:
    made = Batch(account)
    made.queue(made.environment())
    return made


@pytest.fixture
def secret(account: Account) -> str:
    """The ARN of a secret with a JSON document."""
    client: Any = account.client("secretsmanager")
    text = json.dumps({"token": "planted"})
    return client.create_secret(Name="team/hf", SecretString=text)["ARN"]


@pytest.fixture
def parameter(account: Account) -> str:
    """The ARN of an encrypted parameter."""
    client: Any = account.client("ssm")
    client.put_parameter(Name="/team/hf", Value="planted", Type="SecureString")
    return "arn:aws:ssm:us-west-2:123456789012:parameter/team/hf"


def role(account: Account, *arns: str) -> None:
    """Make the execution role, which may read some secrets."""
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    account.iam.create_role(RoleName="reads-secrets", AssumeRolePolicyDocument=trust)
    policy = {"Version": "2012-10-17", "Statement": [{**READS, "Resource": [*arns]}]}
    managed = "arn:aws:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy"
    account.iam.attach_role_policy(RoleName="reads-secrets", PolicyArn=managed)
    account.iam.put_role_policy(
        RoleName="reads-secrets", PolicyName="secrets", PolicyDocument=json.dumps(policy)
    )


def ended(batch: Batch, reference: str, role_arn: str = ROLE) -> dict[str, Any]:
    """Return a job with a secret when it has ended."""
    secrets = [{"name": "HF_TOKEN", "valueFrom": reference}]
    execution = {"executionRoleArn": role_arn} if role_arn else {}
    batch.single(containerProperties=small(secrets=secrets, **execution))
    job = batch.submit("one")
    batch.wait(12)
    found = batch.job(job)
    described = [found, batch.client.describe_job_definitions(jobDefinitionName="one")]
    assert "planted" not in str(described)
    return found


@pytest.mark.parametrize("suffix", ["", ":token::", "::AWSCURRENT:"])
def test_a_job_gets_a_secret_that_its_execution_role_may_read(
    batch: Batch, account: Account, secret: str, suffix: str
) -> None:
    role(account, secret)
    assert ended(batch, f"{secret}{suffix}")["status"] == "SUCCEEDED"


def test_a_job_gets_a_parameter_that_its_execution_role_may_read(
    batch: Batch, account: Account, parameter: str
) -> None:
    role(account, parameter)
    assert ended(batch, parameter)["status"] == "SUCCEEDED"


def test_a_job_without_an_execution_role_gets_no_secret(batch: Batch, secret: str) -> None:
    found = ended(batch, secret, role_arn="")
    assert found["status"] == "FAILED"
    assert "you must also specify a value for 'executionRoleArn'" in found["statusReason"]


def test_a_managed_policy_permits_it_as_well(batch: Batch, account: Account, secret: str) -> None:
    role(account, f"{secret}x")
    managed = "arn:aws:iam::aws:policy/SecretsManagerReadWrite"
    account.iam.attach_role_policy(RoleName="reads-secrets", PolicyArn=managed)
    assert ended(batch, secret)["status"] == "SUCCEEDED"


@pytest.mark.parametrize("service", ["secretsmanager", "ssm"])
def test_a_role_without_the_permission_is_refused(
    batch: Batch, account: Account, secret: str, parameter: str, service: str
) -> None:
    role(account, f"{secret}x", f"{parameter}/x")
    of = {"secretsmanager": secret, "ssm": parameter}[service]
    begins, action = {
        "secretsmanager": (
            f"Fetching secret data from AWS Secrets Manager in region us-west-2: secret {secret}: ",
            "secretsmanager:GetSecretValue",
        ),
        "ssm": (
            "Fetching secret data from SSM Parameter Store in us-west-2: ",
            "ssm:GetParameters",
        ),
    }[service]
    found = ended(batch, of)
    user = "AccessDeniedException: User: arn:aws:sts::123456789012:assumed-role/reads-secrets/"
    assert found["status"] == "FAILED"
    assert found["statusReason"].startswith(f"{begins}{user}")
    assert f"is not authorized to perform: {action} on resource: {of}" in found["statusReason"]


def test_a_secret_that_does_not_exist_is_named(
    batch: Batch, account: Account, secret: str, parameter: str
) -> None:
    role(account, "*")
    account.client("ssm").delete_parameter(Name="/team/hf")
    missing = f"{secret[:-6]}AAAAAA"
    for reference, says in (
        (missing, "ResourceNotFoundException: Secrets Manager can't find the specified secret."),
        (f"{secret}:other::", "secret from Secrets Manager did not contain json key other"),
        (parameter, "Parameter Store in us-west-2: invalid parameters: /team/hf"),
    ):
        found = ended(batch, reference)
        assert found["status"] == "FAILED"
        assert says in found["statusReason"]
