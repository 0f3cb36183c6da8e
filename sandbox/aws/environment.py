"""Settings that moto reads from the environment, some of them on import.

Import this module before the first import of `moto`.
"""

from __future__ import annotations

import os

ACCOUNT_ID = "123456789012"
"""The account of the sandbox, which is also moto's default; others are in `fixture.yaml`."""

_SETTINGS = {
    # The account fixture has the images of the stacks; moto's own catalog has no EKS images and
    # takes a second to load.
    "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",
    # Without it AttachRolePolicy rejects arn:aws:iam::aws:policy/…
    "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
    # The process must not look up credentials of the user.
    "AWS_EC2_METADATA_DISABLED": "true",
}


def prepare() -> None:
    """Set moto's variables; removes the user's AWS settings from this process."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(_SETTINGS)
    os.environ["AWS_CONFIG_FILE"] = os.devnull
    os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
