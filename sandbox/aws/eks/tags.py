"""TagResource, UntagResource, ListTagsForResource on every EKS object."""

from __future__ import annotations

from moto.core.responses import ActionResult, EmptyResult

from sandbox.aws.eks.base import EksBase
from sandbox.aws.eks.errors import not_found
from sandbox.aws.eks.store import Tags


class TagCalls(EksBase):
    """Calls on tags; mixed into the EKS response class."""

    def tag_resource(self) -> EmptyResult:
        """TagResource."""
        self._tags().update(self.params["tags"])
        return EmptyResult()

    def untag_resource(self) -> EmptyResult:
        """UntagResource."""
        tags = self._tags()
        for key in self.params["tagKeys"]:
            tags.pop(key, None)
        return EmptyResult()

    def list_tags_for_resource(self) -> ActionResult:
        """ListTagsForResource."""
        return ActionResult({"tags": self._tags()})

    def _tags(self) -> Tags:
        arn = self.params["resourceArn"]
        by_arn: dict[str, Tags] = {}
        for cluster in self.store.clusters.values():
            by_arn[cluster.arn] = cluster.fields["tags"]
            groups, addons = cluster.node_groups.values(), cluster.addons.values()
            by_arn.update({group["nodegroupArn"]: group["tags"] for group in groups})
            by_arn.update({addon["addonArn"]: addon["tags"] for addon in addons})
            associations = cluster.pod_identities.values()
            by_arn.update({each["associationArn"]: each["tags"] for each in associations})
            by_arn.update({entry.arn: entry.tags for entry in cluster.access_entries.values()})
        if arn not in by_arn:
            not_found(f"No resource found for ARN: {arn}")
        return by_arn[arn]
