"""Plan a network stack, or report every problem of its configuration."""

from __future__ import annotations

from trainyard.components.config.network import NewVpc, PlacedNetwork
from trainyard.components.config.network_stack import NetworkStackConfig
from trainyard.components.config.problems import Review
from trainyard.components.config.stack_review import review_tags
from trainyard.components.named.derived_names import has_flow_logs, review_names
from trainyard.components.network.pool_place import PlanContext
from trainyard.components.network.vpc_review import review_network, review_without_storage
from trainyard.components.network_stack.plan import NetworkStackPlan
from trainyard.components.tagging import common_tags


def plan_stack(context: PlanContext[NetworkStackConfig], review: Review) -> NetworkStackPlan:
    """Return the plan of a network stack.

    Raises:
        ConfigError: every problem that the configuration has.
    """
    config, region = context.config, context.region
    review_tags(config.tags, review, has_roles=has_flow_logs(config))
    review_names(config, review)
    review_network(config.network, region, review)
    review_without_storage(
        config,
        review,
        problem="is a file system, and a stack that is a network alone has nothing to mount it",
        remedy="remove it here, and add it to the stack whose nodes mount it",
    )
    _review_kind(config, review)
    _review_reservations(config, review)
    _review_monitoring(config, review)
    _note_what_is_closed(config.network, review)
    review.close()
    return NetworkStackPlan(
        name=config.name,
        region=region,
        tags=common_tags(config.name, config.tags),
        network=context.network,
        efa_security_group=config.architecture.efa_security_group,
        lustre_security_group=config.architecture.lustre_security_group,
        deletion_protection=config.architecture.deletion_protection,
        notes=tuple(review.notes),
    )


def _note_what_is_closed(network: PlacedNetwork, review: Review) -> None:
    if isinstance(network, NewVpc) and network.nat_gateways == "none":
        review.note(
            "network: nothing in the private subnets reaches the internet; what lives in them "
            "needs `interface_endpoints`, and images in private registries of ECR"
        )


def _review_kind(config: NetworkStackConfig, review: Review) -> None:
    if not isinstance(config.network, NewVpc):
        review.refuse(
            "network.kind",
            "takes a network that exists, and this stack is there to make one",
            found="existing-vpc, or that of another stack",
            allowed="new-vpc",
            remedy=(
                "give `kind: new-vpc` and `availability_zones`; stacks that live in a network "
                "that exists name it themselves"
            ),
        )


def _review_monitoring(config: NetworkStackConfig, review: Review) -> None:
    if config.monitoring is not None:
        review.refuse(
            "monitoring",
            "has nothing to show in a stack that is a network alone",
            found="a dashboard or alarms",
            allowed="no `monitoring`",
            remedy="remove it here, and add it to the stack whose nodes run in the network",
        )


def _review_reservations(config: NetworkStackConfig, review: Review) -> None:
    for name in config.reservations:
        review.refuse(
            f"reservations.{name}",
            "is a reservation, and a stack that is a network alone launches nothing",
            found=config.reservations[name].kind,
            allowed="no entry of `reservations`",
            remedy="remove it here, and add it to the stack whose nodes launch into it",
        )
