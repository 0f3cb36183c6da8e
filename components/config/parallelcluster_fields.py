"""Field types of the ParallelCluster architecture: names, ids and URLs with their forms.

Sources: the pages named below, and `pcluster/schemas` of the package `aws-parallelcluster`, version
3.16.1.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from trainyard.components.config.base import ARN_PARTITION, Form
from trainyard.components.config.storage_fields import BUCKET, NOT_IN_PATHS
from trainyard.components.config.text import Line

# https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html, `SlurmQueues/Name` and
# `ComputeResources/Name`
QueueName = Annotated[
    str,
    Form(
        pattern=r"[a-z][a-z0-9-]{0,24}",
        expected=(
            "a name of at most 25 lowercase letters, digits and hyphens that begins with a letter"
        ),
        example="compute-gpu",
    ),
]
AmiId = Annotated[
    str,
    Form(
        pattern=r"ami-(?:[0-9a-f]{8}|[0-9a-f]{17})",
        expected="the id of an AMI: `ami-` and 17 (or 8) hexadecimal digits",
        example="ami-0123456789abcdef0",
    ),
]
# https://docs.aws.amazon.com/parallelcluster/latest/ug/custom-bootstrap-actions-v3.html
ScriptLocation = Annotated[
    str,
    Form(
        # Characters that RFC 3986 allows in a URL, except for the apostrophe.
        pattern=r"docker|pyxis|nccl|neuron|(?:https|s3)://[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]+",
        expected=(
            "`docker`, `pyxis`, `nccl`, `neuron`, or the `https://` or `s3://` URL of a script"
        ),
        example="pyxis",
        names="script",
    ),
]
ScriptDigest = Annotated[
    str,
    Form(
        pattern=r"[0-9a-f]{64}",
        expected="a SHA-256 digest: 64 hexadecimal digits, as `sha256sum` prints it",
        example="e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ),
]
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
BucketName = Annotated[
    str,
    Form(
        # These suffixes are those of access points and of other kinds of buckets.
        pattern=rf"(?!.*(?:-s3alias|--ol-s3|\.mrap|--x-s3|--table-s3)$){BUCKET}",
        expected=(
            "the name of an S3 bucket: 3 to 63 small letters, digits, hyphens and single dots, "
            "without a reserved prefix or suffix"
        ),
        example="training-scripts",
        names="s3-bucket",
    ),
]
# https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html, `S3Access/KeyName`
ObjectKey = Annotated[
    str,
    Form(
        pattern=r"[^/\s][^\r\n]{0,1023}",
        expected="the key of an object, or a prefix and `*`, without a leading slash",
        example="data/*",
    ),
]
_PUBLIC_KEY = Form(
    pattern=r"(?:ssh-ed25519|ssh-rsa) [A-Za-z0-9+/]+={0,3}(?: [^\r\n]*)?",
    expected="one complete line of a public key file: `ssh-ed25519` or `ssh-rsa`, and the key",
    example="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn",
    where="the line in the `.pub` file of your key pair, such as ~/.ssh/id_ed25519.pub",
)
_FIELDS = {"ssh-ed25519": 2, "ssh-rsa": 3}
"""Number of fields of a key, including its type: https://www.rfc-editor.org/rfc/rfc8709#section-4
and https://www.rfc-editor.org/rfc/rfc4253#section-6.6."""


def _whole_key(line: str) -> str:
    """Return a key without its comment, because a changed comment would replace the key pair.

    Rejects a truncated or mistyped key, which EC2 would reject in the middle of an update.
    """
    key_type, key = line.split()[:2]
    try:
        fields = _fields(base64.b64decode(key, validate=True))
    except (binascii.Error, ValueError):
        fields = []
    if len(fields) != _FIELDS[key_type] or fields[0] != key_type.encode():
        raise PydanticCustomError(
            "form",
            "is not {expected}",
            {
                "expected": _PUBLIC_KEY.expected,
                "example": _PUBLIC_KEY.example,
                "where": _PUBLIC_KEY.where,
            },
        )
    return f"{key_type} {key}"


def _fields(blob: bytes) -> list[bytes]:
    """Return the fields of a key. Each begins with its length in four bytes.

    Raises:
        ValueError: the last field is truncated.
    """
    fields: list[bytes] = []
    while blob:
        length = int.from_bytes(blob[:4])
        field, blob = blob[4 : 4 + length], blob[4 + length :]
        if not length or len(field) != length:
            raise ValueError("the key is truncated")
        fields.append(field)
    return fields


# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-key-pairs.html#how-to-generate-your-own-key-and-import-it-to-aws
PublicKey = Annotated[str, _PUBLIC_KEY, AfterValidator(_whole_key)]
LambdaArn = Annotated[
    str,
    Form(
        # https://docs.aws.amazon.com/lambda/latest/api/API_GetFunction.html, `FunctionName`
        pattern=(
            rf"arn:{ARN_PARTITION}:lambda:(?:eusc-)?[a-z]{{2}}(?:-gov|-iso[a-z]?)?-[a-z]{{1,20}}-\d:"
            r"\d{12}:function:[A-Za-z0-9_-]{1,64}"
        ),
        expected="the ARN of the Lambda function of a ParallelCluster provider stack",
        example="arn:aws:lambda:us-west-2:123456789012:function:pcluster-cfn-provider",
        names="lambda-function",
    ),
]
TemplateUrl = Annotated[
    str,
    Form(
        # https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
        pattern=r"https?://[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]{1,5112}",
        expected="the URL of a CloudFormation template in S3",
        example="https://s3.us-west-2.amazonaws.com/templates/cluster.yaml",
    ),
]
# https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html: mount directories
LocalDirectory = Annotated[
    str,
    Form(
        pattern=rf"/[^{NOT_IN_PATHS}/]+(?:/[^{NOT_IN_PATHS}/]+)*",
        expected="an absolute path without spaces and shell metacharacters",
        example="/scratch",
    ),
]
SlurmParameter = Annotated[
    str,
    Form(pattern=r"[A-Za-z][A-Za-z0-9_]*", expected="a Slurm parameter", example="JobCompType"),
]
# A second line would be a separate parameter in slurm.conf.
SlurmSettings = dict[SlurmParameter, Line]
