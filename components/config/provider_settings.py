"""AWS provider settings in a stack file, outside `trainyard:cluster`."""

from __future__ import annotations

from trainyard.components.catalog.regions import can_be_region, known_regions, nearest_region
from trainyard.components.config.problems import Problem, example_of, remove_command, set_command
from trainyard.components.look_alikes import odd_characters, plain_characters

REGION_KEY = "aws:region"
PROFILE_KEY = "aws:profile"


def provider_problems(*, region: object, profile: object, stack_file: str) -> list[Problem]:
    """Return the problems of region and profile in the stack file."""
    found = [_region_problem(region, stack_file), _profile_problem(profile, stack_file)]
    return [problem for problem in found if problem]


def is_region(region: object) -> bool:
    """Return whether a value is the name of a region, known or possibly new."""
    return isinstance(region, str) and can_be_region(region)


def _region_problem(region: object, stack_file: str) -> Problem | None:
    if is_region(region):
        return None
    if region in (None, ""):
        return Problem(
            path=REGION_KEY,
            problem="is missing: reservations, subnets and images belong to one region",
            allowed="the region of the reservation, such as us-west-2",
            remedy=example_of(REGION_KEY, "us-west-2", stack_file=stack_file),
        )
    text = str(region)
    odd = odd_characters(text)
    nearest = nearest_region(plain_characters(text))
    return Problem(
        path=REGION_KEY,
        problem=(
            "is not the name of a region"
            + (f": it contains {odd}" if odd else "")
            + (f"; the nearest is `{nearest}`" if nearest else "")
        ),
        found=region,
        allowed=", ".join(known_regions()),
        remedy=(
            set_command(REGION_KEY, nearest, stack_file=stack_file).replace(" --path", "")
            if nearest
            else example_of(REGION_KEY, "us-west-2", stack_file=stack_file)
        ),
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
