"""The region of the user's AWS configuration."""

from __future__ import annotations

import os


def usual_region(profile: str = "") -> str:
    """Return the region of the environment or of a profile; empty if there is none."""
    import boto3

    # boto3 reads AWS_DEFAULT_REGION only; the AWS provider of the engine reads this one first.
    session = boto3.Session(profile_name=profile or None)
    return os.environ.get("AWS_REGION") or session.region_name or ""
