"""AWS error codes by cause: the account, the caller or the service.

Sources of caller and service errors:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html (`RequestExpired`,
    `RequestLimitExceeded`, `AuthFailure`)
    https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html (`InvalidClientTokenId`,
    `ThrottlingException`), and the same page of the other services
"""

from __future__ import annotations

NOT_ALLOWED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "UnauthorizedOperation",
        "OptInRequired",
        "AuthorizationError",  # SNS
        # HEAD requests of S3, whose responses have no body:
        # https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
        "403",
    }
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
        "InvalidLaunchTemplateId.NotFound",
        "InvalidLaunchTemplateId.VersionNotFound",
        "InvalidLaunchTemplateName.NotFoundException",
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
        # https://docs.aws.amazon.com/efs/latest/ug/API_DescribeAccessPoints.html
        "AccessPointNotFound",
        # EFS: https://docs.aws.amazon.com/efs/latest/ug/API_DescribeMountTargetSecurityGroups.html;
        # the second of a mount target that is being created or deleted, which has no groups yet, or
        # no longer.
        "MountTargetNotFound",
        "IncorrectMountTargetState",
        # https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DescribeImages.html
        "RepositoryNotFoundException",
        "ImageNotFoundException",
        # SNS: https://docs.aws.amazon.com/sns/latest/api/API_GetTopicAttributes.html
        "NotFound",
        # HEAD requests of S3.
        "404",
    }
)
EXPIRED = frozenset(
    {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"}
)
"""The credentials of the caller have expired."""
NOT_ACCEPTED = frozenset(
    {
        "AuthFailure",
        "InvalidClientTokenId",
        "SignatureDoesNotMatch",
        "InvalidSignatureException",
        "UnrecognizedClientException",
    }
)
"""AWS does not recognize the credentials of the caller."""
THROTTLED = frozenset(
    {
        "RequestLimitExceeded",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
"""The account has made too many calls."""
BROKEN = frozenset({"InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable"})
"""Errors of the service itself."""
