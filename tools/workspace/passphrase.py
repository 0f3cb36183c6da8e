"""The passphrase that encrypts the secrets of a stack, unless Pulumi Cloud or a key does.

Source: https://www.pulumi.com/docs/iac/concepts/secrets/#available-encryption-providers and
https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/secrets/passphrase/manager.go, `readPassphrase`
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.workspace.backend_login import is_cloud

PASSPHRASE = "PULUMI_CONFIG_PASSPHRASE"  # noqa: S105 - the name of a variable
PASSPHRASE_FILE = "PULUMI_CONFIG_PASSPHRASE_FILE"  # noqa: S105 - the name of a variable


def lacks_passphrase(
    stack_file: Mapping[str, Any], *, backend: str, environment: Mapping[str, str]
) -> bool:
    """Return whether the engine would ask for a passphrase.

    An empty `PULUMI_CONFIG_PASSPHRASE` is a passphrase; an empty `PULUMI_CONFIG_PASSPHRASE_FILE`
    is not a file.

    Args:
        stack_file: The content of the stack file. Pulumi writes `encryptionsalt` for a passphrase
            and `secretsprovider` for a key, such as `awskms://alias/pulumi`.
        backend: URL of the backend. Pulumi Cloud encrypts secrets unless the stack has a provider.
        environment: The environment of the engine.
    """
    if PASSPHRASE in environment or environment.get(PASSPHRASE_FILE):
        return False
    if stack_file.get("encryptionsalt"):
        return True
    provider = stack_file.get("secretsprovider")
    if provider:
        return provider == "passphrase"
    return bool(backend) and not is_cloud(backend)
