"""CreateLaunchTemplate, so that the tags of the template stay out of the data of its version."""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models.launch_templates import LaunchTemplate
from moto.ec2.responses import EC2Response

_OWN_TAGS = "launch-template"


class TaggedLaunchTemplate(LaunchTemplate):
    """A launch template whose tags are those that it has now; moto shows those of its creation."""

    @property
    def tags(self) -> list[dict[str, str]]:
        """The tags as they are."""
        return self.get_tags()

    @tags.setter
    def tags(self, _: Any) -> None:
        """Keep nothing: moto sets this once, when the template is made."""


class LaunchTemplateCalls(EC2Response):
    """Mixed into the EC2 response class."""

    def create_launch_template(self) -> ActionResult:
        """CreateLaunchTemplate; moto copies the template's own tags into the first version."""
        result = super().create_launch_template()
        template = self.ec2_backend.get_launch_template_by_name(self.params["LaunchTemplateName"])
        data = template.default_version().data
        kept = [each for each in data.get("TagSpecifications", []) if not _is_own(each)]
        if kept:
            data["TagSpecifications"] = kept
        else:
            data.pop("TagSpecifications", None)
        return result


def _is_own(specification: dict[str, Any]) -> bool:
    return specification.get("ResourceType") == _OWN_TAGS
