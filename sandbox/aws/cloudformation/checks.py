"""Template checks of CloudFormation that ministack lacks.

Source of the sections and attributes:
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-anatomy.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resources-section-structure.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SECTIONS = frozenset(
    {
        "AWSTemplateFormatVersion",
        "Conditions",
        "Description",
        "Hooks",
        "Mappings",
        "Metadata",
        "Outputs",
        "Parameters",
        "Resources",
        "Rules",
        "Transform",
    }
)
_ATTRIBUTES = frozenset(
    {
        "Condition",
        "CreationPolicy",
        "DeletionPolicy",
        "DependsOn",
        "Metadata",
        "Properties",
        "Type",
        "UpdatePolicy",
        "UpdateReplacePolicy",
    }
)
_PROPERTIES: Mapping[str, frozenset[str]] = {
    "AWS::CloudFormation::Stack": frozenset(
        {"NotificationARNs", "Parameters", "Tags", "TemplateURL", "TimeoutInMinutes"}
    ),
}
"""All properties of the resource types in the program's stacks. Source:
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-stack.html
"""


def template_fault(template: Mapping[str, Any]) -> str | None:
    """Return why CloudFormation rejects a template, as it words it; None if it is valid."""
    unknown = sorted(template.keys() - _SECTIONS)
    if unknown:
        return f"Invalid template property or properties [{', '.join(unknown)}]"
    for name, resource in (template.get("Resources") or {}).items():
        if not isinstance(resource, Mapping):
            continue
        fault = _resource_fault(name, resource)
        if fault:
            return fault
    return None


def _resource_fault(name: str, resource: Mapping[str, Any]) -> str | None:
    for attribute in sorted(resource.keys() - _ATTRIBUTES):
        return f"Invalid template resource property '{attribute}'"
    kind, properties = resource.get("Type", ""), resource.get("Properties") or {}
    known = _PROPERTIES.get(kind, properties.keys())
    for unknown in sorted(properties.keys() - known):
        return f"Encountered unsupported property {unknown} in resource {name} ({kind})"
    if kind.startswith("Custom::") and "ServiceToken" not in properties:
        return f"Missing required property ServiceToken in resource {name} ({kind})"
    return None
