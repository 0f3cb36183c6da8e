"""Error codes of AWS by what they say: of the account, of the caller, or of the service.

Sources of those of the caller and of the service:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html (`RequestExpired`,
    `RequestLimitExceeded`, `AuthFailure`)
    https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html (`InvalidClientTokenId`,
    `ThrottlingException`), and the same page of the other services
"""

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
EXPIRED = frozenset(
    {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"}
)
"""The caller's credentials were good and are over."""
NOT_ACCEPTED = frozenset(
    {
        "AuthFailure",
        "InvalidClientTokenId",
        "SignatureDoesNotMatch",
        "InvalidSignatureException",
        "UnrecognizedClientException",
    }
)
"""The caller's credentials are none that AWS knows."""
THROTTLED = frozenset(
    {
        "RequestLimitExceeded",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
"""The account has made too many calls for now."""
BROKEN = frozenset({"InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable"})
"""AWS had an error of its own."""
