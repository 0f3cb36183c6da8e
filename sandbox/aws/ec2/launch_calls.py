"""RunInstances, and the other ways to launch, which the sandbox does not have."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response

from sandbox.aws.ec2.launch_request import merge
from sandbox.aws.ec2.launches import check_launch, run


class LaunchCalls(EC2Response):
    """Launches through the checks of `sandbox.aws.ec2.launches`; mixed into the response class."""

    def run_instances(self) -> ActionResult:
        """RunInstances; with DryRun everything is checked and nothing launched."""
        checked = check_launch(self.ec2_backend, merge(self.ec2_backend, dict(self.params)))
        self.error_on_dryrun()
        return ActionResult(run(self.ec2_backend, checked))

    def create_fleet(self) -> ActionResult:
        """CreateFleet: moto would launch without a check."""
        raise NotImplementedError("instances are launched by RunInstances and Auto Scaling only")

    def request_spot_instances(self) -> ActionResult:
        """RequestSpotInstances, as CreateFleet."""
        return self.create_fleet()

    def request_spot_fleet(self) -> ActionResult:
        """RequestSpotFleet, as CreateFleet."""
        return self.create_fleet()

    def create_network_interface(self) -> ActionResult:
        """CreateNetworkInterface; moto would forget that an interface is for EFA."""
        kind = self.params.get("InterfaceType") or "interface"
        if kind != "interface":
            raise NotImplementedError(f"interfaces of type {kind} are made by a launch only")
        return super().create_network_interface()
