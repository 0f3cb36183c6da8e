"""Checks of a job definition beyond its schema.

Batch accepts most of these definitions, but the job then stays in RUNNABLE: Batch reports no error
for a request that no node can satisfy.
https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html
https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Secret.html and
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/secrets-envvar-secrets-manager.html: a
secret has a name that no variable has
"""

from __future__ import annotations

from trainyard.components.batch.compute_environment_plan import Context
from trainyard.components.batch.job_definition_plan import accelerators_of, memory_of
from trainyard.components.catalog.batch import memory_for_jobs_mib
from trainyard.components.catalog.collective_tests import MAKERS, TESTS_BY_MAKER
from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.batch import ComputeEnvironment, JobDefinition
from trainyard.components.config.batch_fields import OWN_IMAGES
from trainyard.components.config.review import Review


def review_job_definition(
    name: str, definition: JobDefinition, context: Context, review: Review
) -> None:
    """Record problems of a job definition in the stack file."""
    key = f"architecture.job_definitions.{name}"
    environments = context.config.architecture.environments_with_queues()
    environment = environments.get(definition.compute_environment)
    if definition.image == "repository" and context.config.architecture.repository is None:
        review.refuse(
            f"{key}.image",
            "is repository, but the stack has no repository",
            found=definition.image,
            allowed="an image, or an entry `architecture.repository`",
            remedy="add `repository: {}` to `architecture`",
        )
    for variable in sorted(definition.secrets.keys() & definition.environment.keys()):
        review.refuse(
            f"{key}.environment.{variable}",
            "is one of `secrets` too; ECS starts no container with both",
            remedy=review.remove_command(f"{key}.environment.{variable}"),
        )
    if _has_a_moving_tag(definition.image):
        review.note(
            f"job definition {name}: the tag `latest`, which an image without a tag has too, can "
            "change at any time; use a version tag or a digest"
        )
    if environment is None:
        _refuse_environment(key, definition, list(environments), review)
        return
    if definition.nodes > 1:
        _review_nodes(key, definition, environment, context, review)
    found = INSTANCE_TYPES.get(environment.instance_type)
    if found is None:
        return  # an unknown type is refused separately
    _review_requests(key, definition, found, review)
    _review_efa(key, definition, environment, found, review)
    _review_memory(name, definition, found, review)
    _note_shared_devices(name, definition, found, review)
    _review_test(key, definition, found, review)


def _has_a_moving_tag(image: str) -> bool:
    last = image.rpartition("/")[2]
    return last.endswith(":latest") or not (set(":@") & set(last) or image in OWN_IMAGES)


def _refuse_environment(
    key: str, definition: JobDefinition, environments: list[str], review: Review
) -> None:
    wanted = definition.compute_environment
    review.refuse(
        f"{key}.compute_environment",
        "is not the name of an entry of `compute_environments`",
        found=wanted,
        allowed=", ".join(environments),
        remedy=review.nearest_command(f"{key}.compute_environment", wanted, environments),
    )


def _review_nodes(
    key: str,
    definition: JobDefinition,
    environment: ComputeEnvironment,
    context: Context,
    review: Review,
) -> None:
    """Refuse settings that multi-node parallel jobs do not support.

    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
    """
    name = definition.compute_environment
    place = context.place(f"architecture.compute_environments.{name}")
    if definition.nodes > environment.maximum:
        review.refuse(
            f"{key}.nodes",
            f"is more than `maximum` of the compute environment `{name}`, "
            f"{environment.maximum}; the job would stay in RUNNABLE",
            found=definition.nodes,
            allowed=f"at most {environment.maximum}",
            remedy=review.set_command(f"{key}.nodes", str(environment.maximum)),
            rules=("G1",),
        )
    if environment.purchase_option == "spot":
        review.refuse(
            f"{key}.nodes",
            (
                "makes it multi-node parallel, which Batch does not run on Spot Instances, but "
                f"`{name}` uses Spot"
            ),
            found=definition.nodes,
            allowed="1, or `purchase_option: on-demand` or a reservation",
            remedy=review.set_command(f"{place.key}.purchase_option", "on-demand"),
            rules=("G1",),
        )
    # With EFA, the review of the environment requires the zone.
    if not place.one_zone and not environment.efa_enabled:
        review.refuse(
            f"{key}.nodes",
            (
                "makes it multi-node parallel, whose nodes must launch in one zone, but the nodes "
                f"of `{name}` can launch in several"
            ),
            found=definition.nodes,
            allowed=f"1, or `availability_zone` or `subnet_id` of `{name}`",
            remedy=review.set_command(f"{place.key}.availability_zone", "ZONE"),
            rules=("G2",),
        )


def _review_requests(
    key: str, definition: JobDefinition, found: InstanceType, review: Review
) -> None:
    noun = "GPUs"
    if found.accelerators is not None and found.accelerators.manufacturer == "neuron":
        noun = "Neuron devices"
    for name, what, most in (
        ("vcpus", "vCPUs", found.vcpus),
        ("memory_mib", "MiB of memory", found.memory_mib),
        ("accelerators", noun, found.accelerators.count if found.accelerators else 0),
        ("efa_interfaces", "EFA devices", found.efa_interfaces),
    ):
        wanted: int | None = getattr(definition, name)
        if wanted is not None and wanted > most:
            review.refuse(
                f"{key}.{name}",
                f"asks for more than {found.name} has, {most} {what}; the job would never start",
                found=wanted,
                allowed=f"at most {most}; if omitted, all that a job can use",
                remedy=review.remove_command(f"{key}.{name}"),
            )


def _review_efa(
    key: str,
    definition: JobDefinition,
    environment: ComputeEnvironment,
    found: InstanceType,
    review: Review,
) -> None:
    wanted, name = definition.efa_interfaces, definition.compute_environment
    if not wanted or environment.efa_enabled or wanted > found.efa_interfaces:
        return
    review.refuse(
        f"{key}.efa_interfaces",
        (
            f"requests EFA devices, but EFA is off in the compute environment `{name}`: the "
            "container would not start without the device files"
        ),
        found=wanted,
        allowed=f"0, or `efa_enabled: true` in `{name}`",
        remedy=review.set_command(f"architecture.compute_environments.{name}.efa_enabled", "true"),
        rules=("G6",),
    )


def _review_memory(
    name: str, definition: JobDefinition, found: InstanceType, review: Review
) -> None:
    memory, sure = memory_of(definition, found), memory_for_jobs_mib(found)
    if sure < memory <= found.memory_mib:
        review.note(
            f"job definition {name}: requests {memory} of the {found.memory_mib} MiB of "
            f"{found.name}; ECS offers at least {sure} of them, and a job that requests more than "
            "it offers stays in RUNNABLE"
        )
    shared = definition.shared_memory_mib
    if shared is not None and shared > memory:
        key = f"architecture.job_definitions.{name}.shared_memory_mib"
        review.refuse(
            key,
            f"is more than the memory of the container, {memory} MiB, which includes it",
            found=shared,
            allowed=f"at most {memory}",
            remedy=review.remove_command(key),
        )


def _note_shared_devices(
    name: str, definition: JobDefinition, found: InstanceType, review: Review
) -> None:
    """Note if two jobs on one node would share devices: ECS tracks only GPUs."""
    kind = found.accelerators
    if kind is None or kind.manufacturer != "neuron" or definition.nodes > 1:
        return
    wanted = accelerators_of(definition, found)
    vcpus = definition.vcpus or found.vcpus
    room_for_two = 2 * vcpus <= found.vcpus and (
        2 * memory_of(definition, found) <= memory_for_jobs_mib(found)
    )
    if wanted > 0 and room_for_two:
        review.note(
            f"job definition {name}: two such jobs fit on one {found.name} and would share its "
            f"first {wanted} Neuron devices, which Batch does not track; request more than half of "
            "the vCPUs or of the memory to prevent this"
        )


def _review_test(key: str, definition: JobDefinition, found: InstanceType, review: Review) -> None:
    if definition.image not in MAKERS:
        return
    wanted = MAKERS[definition.image]
    has = found.accelerators.manufacturer if found.accelerators else None
    if has != wanted:
        other = TESTS_BY_MAKER.get(has or "", "IMAGE")
        review.refuse(
            f"{key}.image",
            f"tests {'NVIDIA GPUs' if wanted == 'nvidia' else 'Trainium'}, and {found.name} has "
            "none",
            found=definition.image,
            allowed=f"{other}, repository, or another image",
            remedy=review.set_command(f"{key}.image", other),
        )
    elif not definition.command and accelerators_of(definition, found) == 0:
        review.refuse(
            f"{key}.accelerators",
            f"is 0, and the test of `image: {definition.image}` needs one at least",
            found=0,
            allowed="1 or more, or a `command`",
            remedy=review.remove_command(f"{key}.accelerators"),
        )
