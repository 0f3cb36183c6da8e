"""CreateLaunchTemplate and DeleteLaunchTemplate, where moto differs from EC2."""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.exceptions import InvalidLaunchTemplateIdNotFound
from moto.ec2.models.launch_templates import LaunchTemplate
from moto.ec2.responses import EC2Response

_OWN_TAGS = "launch-template"


class TaggedLaunchTemplate(LaunchTemplate):
    """A launch template with its current tags; moto returns those at creation."""

    @property
    def tags(self) -> list[dict[str, str]]:
        """The current tags."""
        return self.get_tags()

    @tags.setter
    def tags(self, _: Any) -> None:
        """Ignore the value, which moto sets once at creation."""


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

    def delete_launch_template(self) -> ActionResult:
        """DeleteLaunchTemplate; for a missing id, moto reports a missing name.

        Raises:
            InvalidLaunchTemplateIdNotFound: The id does not exist.
        """
        template_id = self.params.get("LaunchTemplateId")
        if template_id and template_id not in self.ec2_backend.launch_templates:
            raise InvalidLaunchTemplateIdNotFound(template_id)
        return super().delete_launch_template()


def _is_own(specification: dict[str, Any]) -> bool:
    return specification.get("ResourceType") == _OWN_TAGS
