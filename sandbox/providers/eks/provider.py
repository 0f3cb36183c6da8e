"""The component provider that the engine calls."""

from __future__ import annotations

import pulumi
from pulumi.provider import ConstructResult, Provider

from trainyard.sandbox.providers.eks.arguments import TOKEN, check_arguments
from trainyard.sandbox.providers.eks.cluster import Cluster

VERSION = "4.4.0"
SCHEMA = '{"name": "eks", "version": "4.4.0"}'


class EksProvider(Provider):
    """Provides `eks:index:Cluster` and rejects other components."""

    def __init__(self) -> None:
        super().__init__(VERSION, SCHEMA)

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Register the component with its children.

        Raises:
            LookupError: the sandbox does not support the component.
        """
        if resource_type != TOKEN:
            raise LookupError(
                f"{name}: the sandbox does not know the type {resource_type}; it would have to be "
                f"added under sandbox/providers/eks. It knows {TOKEN}"
            )
        check_arguments(inputs)
        made = Cluster(name, inputs, options or pulumi.ResourceOptions())
        return ConstructResult(made.urn, made.outputs)
