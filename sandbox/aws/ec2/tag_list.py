"""EC2's part of the list of tagged objects, which also has objects that are gone.

`tag:GetResources` lists instances as long as EC2 describes them, an hour after their termination,
and other objects until the list is updated. Here they stay as long as the account keeps their tags.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/how-ec2-instance-termination-works.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from moto.core.resource_tagging import TaggedResource

_TYPES = {"eni": "network-interface", "lt": "launch-template", "vol": "volume"}
"""Types in ARNs by prefix of the id."""
Listing = Callable[[Any], Iterator[TaggedResource]]


def with_gone(listed: Listing) -> Listing:
    """Return the listing with deleted objects, which moto leaves out."""

    def iter_tagged_resources(backend: Any) -> Iterator[TaggedResource]:
        arns: set[str] = set()
        for each in listed(backend):
            arns.add(each.arn)
            yield each
        for identifier, tags in list(backend.tags.items()):
            kind = _TYPES.get(identifier.partition("-")[0], "")
            owner = f"{backend.region_name}:{backend.account_id}"
            arn = f"arn:{backend.partition}:ec2:{owner}:{kind}/{identifier}"
            if kind and arn not in arns:
                yield TaggedResource(arn=arn, tags=dict(tags), resource_type=f"ec2:{kind}")

    return iter_tagged_resources
