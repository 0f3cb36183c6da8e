"""The tag by which an object in the account is found again after a kill: which resource it is.

A transformation of this process and not a transform of the engine: a transform is a call from the
engine back to the program for every resource, a transformation is a function call in the SDK
(`register_stack_transformation` in `sdk/python/lib/pulumi/runtime/stack.py`). It does not reach the
children that the `eks` plugin makes: those have names that follow from the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from components.tagging import RESOURCE_TAG, resource_tag

GROUP = "aws:autoscaling/group:Group"
"""The one type of ours whose tags are a list: each says whether instances carry it too."""


def tag_every_resource() -> None:
    """Let every resource that is registered from now on, and that can have tags, carry its own.

    Needs the stack's root resource, so it is called from inside the program.
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
    """Return whether resources of a type have tags, by the SDK's own properties.

    The SDK gives the output `tags_all` to every type of the `aws` package whose tags are a map;
    Auto Scaling groups have a list instead.
    """
    return type_token == GROUP or (type_token.startswith("aws:") and "tags_all" in props)


def _with(tags: Any, value: str, *, propagates: bool) -> Any:
    if isinstance(tags, pulumi.Output):
        return tags.apply(lambda known: _with(known, value, propagates=propagates))
    if propagates:
        # Instances are no resources of the stack.
        own = {"key": RESOURCE_TAG, "value": value, "propagate_at_launch": False}
        return [*(tags or []), own]
    return {**(tags or {}), RESOURCE_TAG: value}
