"""RunInstances, and other launch calls, which the sandbox does not support."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.responses import EC2Response

from trainyard.sandbox.aws.ec2.capacity_reservations import reservations_of
from trainyard.sandbox.aws.ec2.launch_request import LaunchRequest, merge
from trainyard.sandbox.aws.ec2.launches import check_launch, run
from trainyard.sandbox.aws.errors import code_and_message

_NO_CAPACITY = ("InsufficientInstanceCapacity", "ReservationCapacityExceeded")
_NOT_ACTIVE = "InvalidCapacityReservationState"


class LaunchCalls(EC2Response):
    """Launches through the checks of `launches.py`; mixed into the response class."""

    def run_instances(self) -> ActionResult:
        """RunInstances; DryRun performs all checks except capacity, and launches nothing.

        Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html. A
        capacity check would prevent updates of a cluster whose nodes fill a reservation, because
        ParallelCluster's validators launch each kind of node again as a dry run. It would also
        prevent the creation of a cluster whose Capacity Block has not started, which
        https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
        describes.
        """
        request = merge(self.ec2_backend, dict(self.params))
        try:
            checked = check_launch(self.ec2_backend, request)
        except EC2ClientError as error:
            code, _ = code_and_message(error)
            if code in _NO_CAPACITY or (code == _NOT_ACTIVE and self._starts_later(request)):
                self.error_on_dryrun()
            raise
        self.error_on_dryrun()
        return ActionResult(run(self.ec2_backend, checked))

    def _starts_later(self, request: LaunchRequest) -> bool:
        reservation_id = str(request.reservation_target["CapacityReservationId"])
        return reservations_of(self.ec2_backend).with_id(reservation_id).state == "scheduled"

    def create_fleet(self) -> ActionResult:
        """CreateFleet: rejected, because moto would launch without validation."""
        raise NotImplementedError("instances are launched by RunInstances and Auto Scaling only")

    def request_spot_instances(self) -> ActionResult:
        """RequestSpotInstances: like CreateFleet."""
        return self.create_fleet()

    def request_spot_fleet(self) -> ActionResult:
        """RequestSpotFleet: like CreateFleet."""
        return self.create_fleet()

    def create_network_interface(self) -> ActionResult:
        """CreateNetworkInterface: rejected for EFA, because moto does not store the type."""
        kind = self.params.get("InterfaceType") or "interface"
        if kind != "interface":
            raise NotImplementedError(f"interfaces of type {kind} are made by a launch only")
        return super().create_network_interface()
