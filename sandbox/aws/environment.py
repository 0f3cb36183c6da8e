"""Settings that moto reads from the environment, some of them while it is being imported.

Import this module before the first import of `moto`.
"""

from __future__ import annotations

import os

ACCOUNT_ID = "123456789012"
"""The one account of the sandbox; also what moto uses for requests that name no account."""

_SETTINGS = {
    "MOTO_ACCOUNT_ID": ACCOUNT_ID,
    # The account fixture brings the images that the stacks name; moto's own catalogue has no EKS
    # image and takes a second to load.
    "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",
    # Without it AttachRolePolicy refuses arn:aws:iam::aws:policy/…
    "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
    # No credential of the user is ever looked up by code of ours that runs beside moto.
    "AWS_EC2_METADATA_DISABLED": "true",
}


def prepare() -> None:
    """Set what moto reads; keeps nothing of the user's own AWS settings in this process."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(_SETTINGS)
    os.environ["AWS_CONFIG_FILE"] = os.devnull
    os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
