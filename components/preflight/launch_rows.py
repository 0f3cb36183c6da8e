"""Rows for the AMI of each kind of node and a dry run of its launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.components.account.call_failures import explained, says_nothing_of_the_request
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.lookup import AccountReader, AccountUnreachableError
from trainyard.components.account.named_facts import ImageFacts
from trainyard.components.account.readings import read_side_by_side
from trainyard.components.checks.pool_image_check import DESCRIBE_IMAGES, GET_PARAMETER
from trainyard.components.checks.row import Row, ok, refused, skipped
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.preflight.dry_run import DryRun, plan_dry_run
from trainyard.components.preflight.dry_run_row import (
    LAUNCH,
    WOULD_HAVE_SUCCEEDED,
    Answer,
    dry_run_row,
)

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan

IMAGE = "the AMI fits the instance type and the platform of its reservation"


def launch_rows(reader: AccountReader, plan: AnyPlan, facts: AccountFacts) -> list[Row]:
    """Return rows for the AMI and the dry run of each kind of node.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    asked = plan.node_pools
    answers = read_side_by_side(
        [lambda launch=launch: {launch.key: _rows(reader, launch, plan, facts)} for launch in asked]
    )
    return [row for launch in asked for row in answers[launch.key]]


def _rows(
    reader: AccountReader, launch: NodePoolPlan, plan: AnyPlan, facts: AccountFacts
) -> list[Row]:
    source = launch.image
    image_id = source.image_id or facts.pool_image_ids.get(str(source))
    image = reader.image(image_id) if image_id else None
    if image is None:
        denied = [line for line in reader.not_read() if _is_about_images(line)]
        why = denied[0] if denied else f"not found: {image_id or source}"
        return [
            skipped(launch.key, IMAGE, why),
            skipped(launch.key, LAUNCH, "no AMI for the dry run"),
        ]
    rows = [image_row(launch, image, facts)]
    dry_run = plan_dry_run(launch, plan.network, facts)
    if isinstance(dry_run, str):
        return [*rows, skipped(launch.key, LAUNCH, dry_run)]
    answer = _ask(reader, dry_run, image.image_id)
    return [*rows, dry_run_row(dry_run, image.image_id, answer)]


def image_row(launch: NodePoolPlan, image: ImageFacts, facts: AccountFacts) -> Row:
    """Return the row on whether an AMI fits the type and the reservation of its nodes."""
    ours = launch.instance_type
    found = f"{image.image_id}, {image.architecture}, {image.platform or 'platform unknown'}"
    reservation = facts.reservations.get(launch.capacity.reservation_id or "")
    if image.architecture and image.architecture != ours.architecture:
        problem = f"{ours.name} cannot run an AMI for another architecture"
        return refused(IMAGE, _unfit(launch, found, problem, f"an image for {ours.architecture}"))
    if reservation and image.platform and image.platform != reservation.platform:
        problem = (
            f"{reservation.reservation_id} has the platform {reservation.platform}, and EC2 "
            "launches only AMIs of the same platform into it"
        )
        return refused(
            IMAGE, _unfit(launch, found, problem, f"an image of platform {reservation.platform}")
        )
    return ok(launch.key, IMAGE, found)


def _unfit(launch: NodePoolPlan, found: str, problem: str, allowed: str) -> Problem:
    return Problem(
        path=f"{ROOT}.{launch.key}",
        found=found,
        problem=problem,
        allowed=allowed,
        remedy="set such an AMI (custom_ami_id), or use another reservation or instance type",
    )


def _is_about_images(line: str) -> bool:
    return line.startswith((GET_PARAMETER, DESCRIBE_IMAGES))


def _ask(reader: AccountReader, dry_run: DryRun, image_id: str) -> Answer:
    try:
        answer: Any = reader.ec2.run_instances(**dry_run.request(image_id))
    except ClientError as error:
        if says_nothing_of_the_request(error):
            raise AccountUnreachableError(explained("ec2:RunInstances", error)) from error
        said = error.response.get("Error", {})
        return Answer(said.get("Code", ""), said.get("Message", ""))
    except BotoCoreError as error:
        raise AccountUnreachableError(explained("ec2:RunInstances", error)) from error
    return Answer(WOULD_HAVE_SUCCEEDED, str(answer))
