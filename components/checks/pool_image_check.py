"""Checks that the region has the AMIs of the nodes that the program looks up.

The program reads the id of a self-managed EKS node group from SSM; EKS, AWS Batch and
ParallelCluster find the AMIs of their nodes themselves, by a release or a name that leads to the
same AMI. Without it, they fail when the nodes launch.

Sources:
    https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
    https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
    https://docs.aws.amazon.com/AmazonECS/latest/developerguide/retrieve-ecs-optimized_AMI.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/pcluster.list-official-images-v3.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.readings import Reading
from trainyard.components.checks.check import Subject
from trainyard.components.compute.node_pool_plan import ImageSource, NodePoolPlan
from trainyard.components.config.problems import ROOT, Problem

GET_PARAMETER = "ssm:GetParameter"
DESCRIBE_IMAGES = "ec2:DescribeImages"


def pool_image_readings(reader: AccountReader, pools: Iterable[NodePoolPlan]) -> Iterator[Reading]:
    """Yield a reading for each parameter and each name that leads to an AMI."""
    for source in dict.fromkeys(pool.image for pool in pools):
        if source.image_id is None:
            yield lambda source=source: {"pool_image_ids": _look_up(reader, source)}


def _look_up(reader: AccountReader, source: ImageSource) -> Mapping[str, str | None]:
    if source.name is not None:
        image = reader.newest_image(source.name)
        return {str(source): image.image_id if image else None}
    answer = reader.ask(GET_PARAMETER, reader.client("ssm").get_parameter, Name=source.parameter)
    return {str(source): answer["Parameter"]["Value"] if answer else None}


def pool_image_subjects(pools: Iterable[NodePoolPlan], facts: AccountFacts) -> Iterator[Subject]:
    """Yield what `pool_image_problems` checks."""
    for pool in pools:
        if pool.image.image_id is None:
            found = facts.pool_image_ids.get(str(pool.image)) or _looked_up(pool)
            yield Subject(pool.key, "the region has the AMI of the nodes", found, (_call(pool),))


def pool_image_problems(
    pools: Iterable[NodePoolPlan], facts: AccountFacts, *, region: str, remedy: str
) -> Iterator[Problem]:
    """Yield the pools whose AMI does not exist in the region."""
    for pool in pools:
        source = pool.image
        if facts.pool_image_ids.get(str(source), source) is not None:
            continue  # found, not looked up, or an id in the stack file
        if not facts.could_read(_call(pool)):
            continue
        what = "public SSM parameter" if source.parameter else "AMI of Amazon by this name"
        yield Problem(
            path=f"{ROOT}.{pool.key}",
            found=_looked_up(pool),
            problem=f"{region} has no {what}, so no {pool.instance_type.name} could launch",
            remedy=remedy,
        )


def _looked_up(pool: NodePoolPlan) -> str:
    return pool.image.parameter or f"{pool.image.name}*"


def _call(pool: NodePoolPlan) -> str:
    return GET_PARAMETER if pool.image.parameter else DESCRIBE_IMAGES
