"""The answers of EC2 about the launch templates of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.account.lookup import AccountReader

CALL = "DescribeLaunchTemplateVersions"


def read_templates(
    reader: AccountReader,
    wanted: Iterable[tuple[str, str, str]],
    shown: Callable[[str], Any],
) -> Iterator[Mapping[str, Any]]:
    """Yield the versions of launch templates that nodes launch with, each once.

    Args:
        reader: The account and region.
        wanted: `LaunchTemplateId` or `LaunchTemplateName`, its value, and the version.
        shown: Returns what the report has of user data in base64, whose text can have secrets.
    """
    for key, template, version in dict.fromkeys(wanted):
        answer = reader.ask(
            f"ec2:{CALL}",
            reader.ec2.describe_launch_template_versions,
            if_denied={},
            **{key: template},
            Versions=[version],
        )
        if answer is None:
            reader.leave_out(
                f"launch template {template}, version {version}",
                "EC2 has no such version any more; its nodes cannot be replaced",
            )
        for each in (answer or {}).get("LaunchTemplateVersions", []):
            data = dict(each["LaunchTemplateData"])
            if "UserData" in data:
                data["UserData"] = shown(data["UserData"])
            yield {**each, "LaunchTemplateData": data}
