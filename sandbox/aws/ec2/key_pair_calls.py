"""DescribeKeyPairs: moto's error message contains a Python set."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response

from trainyard.sandbox.aws.errors import refuse


class KeyPairCalls(EC2Response):
    """Mixed into the EC2 response class."""

    def describe_key_pairs(self) -> ActionResult:
        """DescribeKeyPairs."""
        for name in self.params.get("KeyNames") or []:
            if name not in self.ec2_backend.key_pairs:
                refuse("InvalidKeyPair.NotFound", f"The key pair '{name}' does not exist")
        return super().describe_key_pairs()
