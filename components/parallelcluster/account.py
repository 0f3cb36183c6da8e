"""What a ParallelCluster stack reads from the account and checks there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from typing_extensions import override

from trainyard.components.account.check import ArchitectureNeeds, Check, NodeNeeds, Subject
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.known import Known
from trainyard.components.account.reader import AccountReader, Reading
from trainyard.components.account_part import AccountPart
from trainyard.components.capacity.facts import Holders, ReservationFacts
from trainyard.components.capacity.launch_place import (
    LaunchPlace,
    in_zone,
    place_of,
    private_subnets,
    public_subnets,
    spelled,
)
from trainyard.components.capacity.lookup import look_up_holders
from trainyard.components.capacity.reservations import (
    DESCRIBE,
    found_reservations,
    held_text,
    reservation_ids,
    unseen_reservation_warnings,
)
from trainyard.components.catalog.parallelcluster import OPERATING_SYSTEMS_WITHOUT_RSA_KEYS
from trainyard.components.compute.checks import offering_problems
from trainyard.components.config.named import Named
from trainyard.components.config.network import ExistingVpc, NewVpc
from trainyard.components.config.parallelcluster import (
    HeadNode,
    ParallelClusterArchitecture,
    ParallelClusterStackConfig,
    Queue,
    resource_key,
)
from trainyard.components.config.problems import ROOT, Problem, set_command
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.stack import StackConfig
from trainyard.components.named.checks import (
    image_subjects,
    key_pair_subjects,
    missing_key_problems,
)
from trainyard.components.named.made_names import CLOUDFORMATION_STACK, SLURM_CLUSTER, group_names
from trainyard.components.network.checks import ADDRESSES, address_problems
from trainyard.components.network.facts import SubnetFacts
from trainyard.components.parallelcluster.address_capacity import addresses_by_subnet
from trainyard.components.parallelcluster.image_check import (
    image_problems,
    image_warnings,
)
from trainyard.components.parallelcluster.lookup import (
    look_up_deployed,
    look_up_deployed_key,
    look_up_efs,
    look_up_fleet_stopped,
    look_up_open_zfs,
    look_up_volumes,
)
from trainyard.components.parallelcluster.mounted_storage_check import (
    MOUNTED_STORAGE,
    mounted_storage_problems,
)
from trainyard.components.parallelcluster.plan import ParallelClusterPlan, deployment_stack_name
from trainyard.components.parallelcluster.rendering import render_cluster
from trainyard.components.parallelcluster.update_review import surge_problems, update_problems
from trainyard.components.quotas.checks import Need
from trainyard.components.tagging import CLUSTER_TAG


def complete_cluster(
    architecture: ParallelClusterArchitecture, config: StackConfig, facts: AccountFacts
) -> ParallelClusterArchitecture:
    """Return the architecture with the subnet of each queue that launches in one zone.

    A queue that can launch in any zone gets one subnet per zone: EC2 Fleet refuses two in one zone
    (https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html, `SubnetIds`). The
    head node gets the first subnet in the zone of the first queue that has one zone.
    """
    places = _places(config, facts)
    queues = {
        name: _with_subnets(queue, places.get(f"architecture.queues.{name}"), config, facts)
        for name, queue in architecture.queues.items()
    }
    zone = architecture.head_node.availability_zone or _first_zone(queues, facts)
    head_node = _with_subnet(architecture.head_node, zone, config, facts)
    return architecture.model_copy(update={"queues": queues, "head_node": head_node})


def _places(config: StackConfig, facts: AccountFacts) -> dict[str, LaunchPlace]:
    """Return the place of each queue by its key: the first place of its compute resources."""
    found: dict[str, LaunchPlace] = {}
    for pool in config.pools():
        place = place_of(pool, config, facts)
        if place is not None:
            found.setdefault(pool.launch_key, place)
    return found


def _with_subnets(
    queue: Queue, place: LaunchPlace | None, config: StackConfig, facts: AccountFacts
) -> Queue:
    if place is not None:
        update = {
            "subnet_ids": (place.subnet_id,) if place.subnet_id else (),
            "availability_zone": place.availability_zone,
        }
        return queue.model_copy(update=update)
    if queue.subnet_ids or queue.availability_zone is not None:
        return queue
    first: dict[str, SubnetFacts] = {}
    subnets = private_subnets(config, facts)
    for subnet in subnets:
        first.setdefault(subnet.zone_id, subnet)
    if len(first) == len(subnets):
        return queue  # the plan treats an empty list as all subnets
    return queue.model_copy(update={"subnet_ids": tuple(s.subnet_id for s in first.values())})


def _first_zone(queues: dict[str, Queue], facts: AccountFacts) -> str | None:
    for queue in queues.values():
        if queue.availability_zone is not None:
            return queue.availability_zone
        if len(queue.subnet_ids) == 1 and queue.subnet_ids[0] in facts.subnets:
            return facts.subnets[queue.subnet_ids[0]].availability_zone
    return None


def _with_subnet(
    head_node: HeadNode, zone: str | None, config: StackConfig, facts: AccountFacts
) -> HeadNode:
    if head_node.subnet_id is not None:
        return head_node
    if isinstance(config.network, NewVpc):
        update = {"availability_zone": spelled(zone, config.network, facts) if zone else None}
        return head_node.model_copy(update=update)
    public = head_node.network == "public"
    subnets = (public_subnets if public else private_subnets)(config, facts)
    chosen = [subnet for subnet in subnets if zone is not None and in_zone(subnet, zone)]
    if not chosen and head_node.availability_zone is None:
        chosen = subnets  # in another zone than its queues: works, with transfer costs
    if not chosen:
        return head_node
    update = {"subnet_id": chosen[0].subnet_id, "availability_zone": None}
    return head_node.model_copy(update=update)


# Refuse a new cluster whose static nodes do not fit into the free part of their reservation.
#
# ParallelCluster creates a cluster only when its static nodes run: the head node waits for them,
# and then the creation fails and rolls back. After the creation, nodes without capacity wait in
# Slurm.
#
# Sources:
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-workload-manager-v3.html, "Cluster
#     capacity size and update"
#     https://github.com/aws/aws-parallelcluster/issues/3373: the creation waits for static capacity


STATIC_CAPACITY = Subject(
    "reservations", "the static nodes of a new cluster can launch now", calls=(DESCRIBE,)
)
"""What `static_capacity_problems` checks."""


def full_reservations(config: ParallelClusterStackConfig, facts: AccountFacts) -> list[str]:
    """Return the ids of reservations that are too full for the nodes of a new cluster."""
    if facts.deployed_cluster is not None:
        return []
    return [
        identifier
        for name, reservation in config.reservations.items()
        if _missing(found_reservations(reservation, facts), _static_nodes(name, config))
        for identifier in reservation_ids(reservation, facts.reservation_groups)
    ]


def static_capacity_problems(
    config: ParallelClusterStackConfig, facts: AccountFacts, *, stack_file: str
) -> Iterator[Problem]:
    """Yield reservations with fewer available instances than a new cluster has static nodes.

    Instances with the name of the cluster are its own: a creation that continues uses them.
    """
    if facts.deployed_cluster is not None:
        return
    for name, reservation in config.reservations.items():
        found = found_reservations(reservation, facts)
        static = _static_nodes(name, config)
        held = [facts.reservation_holders.get(each.reservation_id) for each in found]
        own = sum(len((each or {}).get(config.name, ())) for each in held)
        if _missing(found, static) > own:
            free = own + sum(each.available_count or 0 for each in found)
            yield Problem(
                path=f"{ROOT}.reservations.{name}",
                found="; ".join(map(_held, found, held)),
                problem=(
                    f"{free} of {sum(each.instance_count for each in found)} instances are "
                    f"available, and the new cluster has {sum(static.values())} static nodes; "
                    "ParallelCluster waits for them, then fails and rolls back"
                ),
                remedy="terminate the instances that hold it, or use another reservation"
                + _fewer(
                    static, free, block=isinstance(reservation, CapacityBlock), file=stack_file
                ),
            )


def _static_nodes(name: str, config: ParallelClusterStackConfig) -> dict[str, int]:
    """Return the static nodes that a reservation must hold, by key of their number."""
    return {
        f"{resource_key(queue_name, nodes_name, nodes)}.minimum": nodes.minimum
        for queue_name, queue in config.architecture.queues.items()
        for nodes_name, nodes in queue.compute_resources.items()
        if (nodes.purchase_option or queue.purchase_option) == name and nodes.minimum
    }


def _missing(found: list[ReservationFacts], static: Mapping[str, int]) -> int:
    """Return how many static nodes cannot launch now; 0 if the account does not say.

    A Capacity Block that has not started has no nodes yet.
    """
    if not found or any(each.state != "active" or each.available_count is None for each in found):
        return 0
    free = sum(each.available_count or 0 for each in found)
    return max(0, sum(static.values()) - free)


def _fewer(static: Mapping[str, int], free: int, *, block: bool, file: str) -> str:
    """Return the way with fewer static nodes; empty in a Capacity Block, where all are static."""
    if block or len(static) > 1:
        return ""
    (key,) = static
    command = set_command(f"{ROOT}.{key}", str(free), stack_file=file)
    return f"; or create the cluster with fewer static nodes: {command}"


def _held(reservation: ReservationFacts, holders: Holders | None) -> str:
    used = reservation.instance_count - (reservation.available_count or 0)
    held = f"{used} used" if holders is None else held_text(holders, used=used, ids=False)
    return f"{reservation.reservation_id}: {held}"


HEAD_NODE_SUBNET = Subject(
    "architecture.head_node",
    "its subnet gives nodes access",
    calls=("ec2:DescribeSubnets",),
)
"""What `head_node_problems` checks."""

HEAD_NODE = f"{ROOT}.architecture.head_node"


def head_node_problems(
    head_node: HeadNode, network: ExistingVpc, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield why a head node would not start in its subnet."""
    subnet = facts.subnets.get(head_node.subnet_id or "")
    if subnet is None:
        return
    yield from offering_problems(
        f"{HEAD_NODE}.instance_type", head_node.instance_type, subnet.subnet_id, facts
    )
    is_public = subnet.subnet_id in network.public_subnet_ids
    if is_public and not subnet.maps_public_addresses:
        yield _without_address(subnet)


def _without_address(subnet: SubnetFacts) -> Problem:
    # https://docs.aws.amazon.com/parallelcluster/latest/ug/network-configuration-v3.html: nodes in
    # a public subnet must get public addresses.
    return Problem(
        path=f"{HEAD_NODE}.subnet_id",
        found=f"{subnet.subnet_id}, which assigns no public IP addresses",
        problem=(
            "a head node here has no public IP address: it cannot reach the internet or AWS "
            "through the internet gateway, so the cluster creation fails, and users cannot "
            "connect to it"
        ),
        allowed="a public subnet with MapPublicIpOnLaunch, or a private one",
        remedy=(
            f"aws ec2 modify-subnet-attribute --subnet-id {subnet.subnet_id} "
            "--map-public-ip-on-launch, or set architecture.head_node.network to private"
        ),
    )


KEY = f"{ROOT}.architecture.head_node.ssh.key_name"
PUBLIC_KEY = f"{ROOT}.architecture.head_node.ssh.public_key"


def key_problems(
    architecture: ParallelClusterArchitecture, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield why users could not log in to the head node with the key pair."""
    key_name = architecture.head_node.ssh.key_name
    yield from missing_key_problems(
        KEY,
        key_name,
        facts,
        loss="the head node would not launch",
        remedy="set `public_key` instead of `key_name`, which the stack imports",
    )
    system, key_type = architecture.operating_system, facts.key_pairs.get(key_name or "")
    if system in OPERATING_SYSTEMS_WITHOUT_RSA_KEYS and key_type == "rsa":
        yield Problem(
            path=KEY,
            found=f"{key_name}, of type rsa",
            problem=f"{system} does not accept RSA keys; no user could log in",
            allowed="a key pair of type ed25519",
            remedy=(
                "create one (`aws ec2 create-key-pair --key-type ed25519 --key-name NAME`), and "
                "set its name"
            ),
        )


def replaced_key_problems(
    config: ParallelClusterStackConfig, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield a problem if importing a public key would change the key pair of an existing cluster.

    The name of an imported key pair is known only after its creation, so the comparison of cluster
    configurations cannot detect it.
    """
    wanted, deployed = config.architecture.head_node.ssh.public_key, facts.deployed_key
    if wanted is None or deployed is None:
        return
    imported = deployed.tags.get(CLUSTER_TAG) == config.name
    public_key = " ".join(deployed.public_key.split()[:2])  # without the comment
    if imported and wanted == public_key:
        return
    yield Problem(
        path=PUBLIC_KEY,
        found=wanted,
        problem=(
            "changes `HeadNode.Ssh.KeyName`, which ParallelCluster cannot change in a cluster that "
            "exists"
        ),
        allowed=f"as deployed: {public_key if imported else deployed.name}",
        remedy=(
            f"{'set it back' if imported else f'set key_name to {deployed.name} instead'}; to give "
            "other users access, add their keys to ~/.ssh/authorized_keys on the head node"
        ),
    )


QUEUE_SUBNETS = Subject(
    "architecture.queues",
    "have at most one subnet in each zone",
    calls=("ec2:DescribeSubnets",),
)
"""What `queue_subnet_problems` checks."""


def queue_subnet_problems(
    architecture: ParallelClusterArchitecture, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield queues with two subnets in one zone, which EC2 Fleet does not support.

    Source: `QueueSubnetsValidator` of aws-parallelcluster 3.16.1, and
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-configuration-strategies.html
    """
    for name, queue in architecture.queues.items():
        met: dict[str, str] = {}
        for subnet_id in queue.subnet_ids:
            subnet = facts.subnets.get(subnet_id)
            if subnet is None:
                continue
            first = met.setdefault(subnet.zone_id, subnet_id)
            if first != subnet_id:
                yield Problem(
                    path=f"{ROOT}.architecture.queues.{name}.subnet_ids",
                    found=f"{first} and {subnet_id}, both in {subnet.availability_zone}",
                    problem="a queue can have one subnet per zone; EC2 Fleet rejects two",
                    allowed="at most one subnet in each zone",
                    remedy=f"remove {first} or {subnet_id}",
                )


PARALLELCLUSTER_QUOTAS = (
    "launch-templates",
    "placement-groups",
    "security-groups",
    "gp3-storage",
    "iam-roles",
    "iam-instance-profiles",
)
"""Quotas that a ParallelCluster stack counts towards."""


def parallelcluster_needs(plan: ParallelClusterPlan) -> Iterator[Need]:
    """Yield the needs of head node and queues.

    ParallelCluster makes a security group and a role for the head node and for compute nodes, the
    latter for each queue: `templates/cluster_stack.py` and `templates/queues_stack.py` of
    https://github.com/aws/aws-parallelcluster/tree/v3.16.1/cli/src/pcluster
    """
    yield Need(quota="security-groups", key="architecture", amount=2)
    yield Need(quota="iam-roles", key="architecture", amount=1 + len(plan.queues))
    yield Need(quota="iam-instance-profiles", key="architecture", amount=1 + len(plan.queues))
    volumes = plan.head_node.root_volume.size_gib
    for queue in plan.queues:
        nodes = sum(each.nodes for each in queue.compute_resources)
        volumes += nodes * queue.config.root_volume.size_gib
    yield Need(quota="gp3-storage", key="architecture", amount=volumes / 1024)


CLUSTER_CHANGES = Subject("architecture", "ParallelCluster accepts the changes of the stack file")
"""What `update_problems` checks."""
SURGES = Subject("architecture.queues", "no update needs more nodes than the reservation has")
"""What `surge_problems` checks."""


class ParallelClusterAccount(AccountPart[ParallelClusterStackConfig, ParallelClusterPlan]):
    """Readings and checks of a ParallelCluster stack."""

    needs = ArchitectureNeeds(
        quotas=PARALLELCLUSTER_QUOTAS,
        nodes=NodeNeeds(
            dns="ParallelCluster rejects such a VPC: nodes resolve each other by name",
            registry="AWS",
            endpoints=frozenset({"cloudformation", "dynamodb", "ec2", "logs", "s3"}),
            closed=(
                "nodes here cannot configure themselves: the subnet has no default route, and the "
                "VPC lacks an endpoint for at least one of cloudformation, dynamodb, ec2, logs "
                "and s3"
            ),
            endpoint_owner="ParallelCluster",
        ),
        zone_users="shared storage and NAT gateways",
    )
    """Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/network-configuration-v3.html,
    "AWS ParallelCluster in a single subnet with no internet access"; `SubnetsValidator` of
    aws-parallelcluster 3.16.1 for DNS."""
    pool_image_remedy = (
        "set `custom_ami_id` of the queue or of `architecture` to an AMI of your own, or choose "
        "another `operating_system`"
    )

    @override
    def is_up(self, config: ParallelClusterStackConfig, facts: AccountFacts) -> bool:
        """Whether the cluster is deployed."""
        return facts.deployed_cluster is not None

    @override
    def readings(
        self, reader: AccountReader, config: ParallelClusterStackConfig
    ) -> Iterator[Reading]:
        """Yield the readings of the deployed cluster and of mounted storage."""
        yield lambda: _deployed(reader, config)
        yield lambda: {"efs": look_up_efs(reader, config)}
        yield lambda: {"open_zfs": look_up_open_zfs(reader, config)}
        yield lambda: {"volumes": look_up_volumes(reader, config)}

    @override
    def later_readings(
        self, reader: AccountReader, config: ParallelClusterStackConfig, facts: AccountFacts
    ) -> Iterator[Reading]:
        """Yield the reading of who holds the reservations that are too full for a new cluster."""
        full = full_reservations(config, facts)
        if full:
            yield lambda: {"reservation_holders": look_up_holders(reader, full)}

    @override
    def made_names(self, config: ParallelClusterStackConfig) -> Iterator[Named]:
        """Yield the names of the CloudFormation stacks, and those of reservation groups."""
        yield Named(CLOUDFORMATION_STACK, deployment_stack_name(config.name), "name")
        yield Named(SLURM_CLUSTER, config.name, "name")
        yield from group_names(config)

    @override
    def completed(
        self, config: ParallelClusterStackConfig, facts: AccountFacts
    ) -> ParallelClusterArchitecture:
        """Return the architecture with the subnets of queues and head node."""
        return complete_cluster(config.architecture, config, facts)

    @override
    def checks(
        self, known: Known[ParallelClusterStackConfig, ParallelClusterPlan]
    ) -> Iterator[Check]:
        """Yield the checks of a completed configuration."""
        config, facts = known.config, known.facts
        architecture = config.architecture
        if isinstance(config.network, ExistingVpc):
            head_node = head_node_problems(architecture.head_node, config.network, facts)
            yield Check("head node", head_node, [HEAD_NODE_SUBNET])
        queues = queue_subnet_problems(architecture, facts)
        yield Check("queue subnets", queues, [QUEUE_SUBNETS])
        yield Check(
            "key pairs", key_problems(architecture, facts), key_pair_subjects(config, facts)
        )
        yield Check("key pairs", replaced_key_problems(config, facts))
        yield Check("images", image_problems(architecture, facts), image_subjects(config, facts))
        capacity = static_capacity_problems(config, facts, stack_file=known.stack_file)
        yield Check("static capacity", capacity, [STATIC_CAPACITY] if config.reservations else [])

    @override
    def plan_checks(
        self, known: Known[ParallelClusterStackConfig, ParallelClusterPlan]
    ) -> Iterator[Check]:
        """Yield the checks of a plan, including updates that ParallelCluster refuses."""
        plan, facts = known.plan, known.facts
        rooms = address_problems(
            addresses_by_subnet(plan),
            plan.network,
            facts,
            takers="interfaces",
            remedy="or fewer nodes",
        )
        yield Check("addresses", rooms, [ADDRESSES])
        yield Check("mounted storage", mounted_storage_problems(plan, facts), [MOUNTED_STORAGE])
        if facts.deployed_cluster is not None:
            rendered = render_cluster(plan)
            changes = update_problems(
                facts.deployed_cluster,
                rendered,
                stack_file=known.stack_file,
                cluster_name=plan.name,
                fleet_stopped=facts.fleet_stopped,
            )
            yield Check("changes of the cluster", changes, [CLUSTER_CHANGES])
            surges = surge_problems(
                facts.deployed_cluster,
                rendered,
                _instances(facts),
                stack_file=known.stack_file,
                fleet_stopped=facts.fleet_stopped,
            )
            yield Check("reservation capacity during updates", surges, [SURGES])

    @override
    def quota_needs(self, plan: ParallelClusterPlan) -> Iterator[Need]:
        """Yield what the cluster needs of quotas."""
        yield from parallelcluster_needs(plan)

    @override
    def warnings(
        self, known: Known[ParallelClusterStackConfig, ParallelClusterPlan]
    ) -> Iterator[str]:
        """Yield warnings to show before any change."""
        config, facts = known.config, known.facts
        yield from image_warnings(config.architecture, facts)
        yield from unseen_reservation_warnings(config, facts)


def _deployed(reader: AccountReader, config: ParallelClusterStackConfig) -> Mapping[str, Any]:
    deployed = look_up_deployed(reader, deployment_stack_name(config.name))
    imports_key = config.architecture.head_node.ssh.public_key is not None
    return {
        "deployed_cluster": deployed,
        "deployed_key": look_up_deployed_key(reader, deployed)
        if deployed and imports_key
        else None,
        "fleet_stopped": deployed is not None and look_up_fleet_stopped(reader, config.name),
    }


def _instances(facts: AccountFacts) -> dict[str, int]:
    """Return the number of instances, by reservation and by reservation group."""
    alone = {name: found.instance_count for name, found in facts.reservations.items()}
    groups = {
        arn: sum(alone.get(member, 0) for member in members)
        for arn, members in facts.reservation_groups.items()
    }
    return alone | groups
