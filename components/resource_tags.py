"""The tag that identifies the Pulumi resource of an AWS object, to find it after a crash.

This is an SDK transformation, not an engine transform: the engine calls the program back for every
transform, while a transformation is a function call in the SDK (`register_stack_transformation` in
`sdk/python/lib/pulumi/runtime/stack.py`). It does not apply to children that the `eks` plugin
creates, whose names depend only on the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from trainyard.components.tagging import RESOURCE_TAG, resource_tag

GROUP = "aws:autoscaling/group:Group"
"""The only used type with a list of tags, each with a flag to propagate it to instances."""


def tag_every_resource() -> None:
    """Add the tag to every taggable resource that is registered from now on.

    Requires the root stack resource, so it must run inside the program.
    """
    stack, project = pulumi.get_stack(), pulumi.get_project()

    def tagged(
        args: pulumi.ResourceTransformationArgs,
    ) -> pulumi.ResourceTransformationResult | None:
        props: Mapping[str, Any] = args.props
        if not is_taggable(args.type_, props):
            return None
        value = resource_tag(stack=stack, project=project, type_token=args.type_, name=args.name)
        tags = _with(props.get("tags"), value, propagates=args.type_ == GROUP)
        return pulumi.ResourceTransformationResult({**props, "tags": tags}, args.opts)

    pulumi.runtime.register_stack_transformation(tagged)


def is_taggable(type_token: str, props: Mapping[str, Any]) -> bool:
    """Return whether a resource type has tags, from its SDK properties.

    The SDK gives the output `tags_all` to every type of the `aws` package whose tags are a map;
    Auto Scaling groups have a list instead.
    """
    return type_token == GROUP or (type_token.startswith("aws:") and "tags_all" in props)


def _with(tags: Any, value: str, *, propagates: bool) -> Any:
    if isinstance(tags, pulumi.Output):
        return tags.apply(lambda known: _with(known, value, propagates=propagates))
    if propagates:
        # Instances are not resources of the stack.
        own = {"key": RESOURCE_TAG, "value": value, "propagate_at_launch": False}
        return [*(tags or []), own]
    return {**(tags or {}), RESOURCE_TAG: value}
