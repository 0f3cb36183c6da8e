"""Resources and functions by token, without the packages that define them.

Importing pulumi_aws a second time would add seconds to each preview.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pulumi

AWS_VERSION = "7.51.1"
KUBERNETES_VERSION = "4.34.2"
"""Versions of the program's packages, so that both share default providers."""


class Child(pulumi.CustomResource):
    """A provider resource with its outputs by name."""

    def __init__(
        self,
        token: str,
        name: str,
        inputs: Mapping[str, Any],
        *,
        outputs: Iterable[str] = (),
        opts: pulumi.ResourceOptions,
    ) -> None:
        version = {"aws": AWS_VERSION, "kubernetes": KUBERNETES_VERSION}[token.partition(":")[0]]
        present = {key: value for key, value in inputs.items() if value is not None}
        super().__init__(
            token,
            name,
            {**dict.fromkeys(outputs), **present},
            pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=version)),
        )

    def output(self, name: str) -> pulumi.Output[Any]:
        """Return an input, or an output that was declared at creation."""
        return self.__dict__[name]


def call(token: str, parent: pulumi.Resource) -> pulumi.Output[Any]:
    """Return the result of a pulumi-aws function without arguments."""
    options = pulumi.InvokeOptions(parent=parent, version=AWS_VERSION)
    return pulumi.runtime.invoke_output(token, {}, options)
