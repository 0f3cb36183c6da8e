"""AWS provider settings in a stack file, outside `trainyard:cluster`."""

from __future__ import annotations

import re

from components.config.problems import Problem, remove_command, set_command

REGION_KEY = "aws:region"
PROFILE_KEY = "aws:profile"
# https://docs.aws.amazon.com/general/latest/gr/rande.html: `us-gov-west-1`, `eusc-de-east-1`
_REGION = re.compile(r"[a-z]{2,4}(?:-[a-z]+)+-\d", re.ASCII)


def provider_problems(*, region: object, profile: object, stack_file: str) -> list[Problem]:
    """Return the problems of region and profile in the stack file."""
    found = [_region_problem(region, stack_file), _profile_problem(profile, stack_file)]
    return [problem for problem in found if problem]


def is_region(region: object) -> bool:
    """Return whether a value is the name of a region."""
    return isinstance(region, str) and _REGION.fullmatch(region) is not None


def _region_problem(region: object, stack_file: str) -> Problem | None:
    if is_region(region):
        return None
    missing = region in (None, "")
    return Problem(
        path=REGION_KEY,
        problem=(
            "is missing: reservations, subnets and images belong to one region"
            if missing
            else "is not the name of a region"
        ),
        found=None if missing else region,
        allowed="the region of the reservation, such as us-west-2",
        remedy=set_command(REGION_KEY, "us-west-2", stack_file=stack_file).replace(" --path", ""),
    )


def _profile_problem(profile: object, stack_file: str) -> Problem | None:
    if profile is None or (isinstance(profile, str) and profile.isprintable()):
        return None
    return Problem(
        path=PROFILE_KEY,
        problem="is not the name of a profile",
        found=profile,
        allowed="the name of a profile in ~/.aws/config, or no such key",
        remedy=remove_command(PROFILE_KEY, stack_file=stack_file).replace(" --path", ""),
    )
