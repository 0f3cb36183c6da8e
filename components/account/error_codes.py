"""Error codes of AWS that say something about the account, and are no failure of the call."""

from __future__ import annotations

NOT_ALLOWED = frozenset(
    {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "OptInRequired"}
)
NOT_FOUND = frozenset(
    {
        "InvalidCapacityReservationId.NotFound",
        "InvalidCapacityReservationId.Malformed",
        "InvalidKeyPair.NotFound",
        # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
        "InvalidAMIID.NotFound",
        "InvalidAMIID.Malformed",
        "InvalidAMIID.Unavailable",
        "InvalidVolume.NotFound",
        "InvalidVpcID.NotFound",
        # FSx: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeFileSystems.html
        "FileSystemNotFound",
        "VolumeNotFound",
        # https://docs.aws.amazon.com/ARG/latest/APIReference/API_ListGroupResources.html
        "NotFoundException",
        # EKS: https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html
        "ResourceNotFoundException",
        # IAM, SSM, Service Quotas, and placement groups of EC2: the pages of their Get calls.
        "NoSuchEntity",
        "ParameterNotFound",
        "NoSuchResourceException",
        "InvalidPlacementGroup.Unknown",
    }
)
