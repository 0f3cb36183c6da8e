"""Field types of the ParallelCluster architecture: names, ids and addresses with their forms.

Sources: the pages named below, and `pcluster/schemas` of the package `aws-parallelcluster`, version
3.16.1.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from components.config.base import Form, Line
from components.config.storage_fields import NOT_IN_PATHS

# https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html, `SlurmQueues/Name` and
# `ComputeResources/Name`
QueueName = Annotated[
    str,
    Form(
        pattern=r"[a-z][a-z0-9-]{0,24}",
        expected=(
            "a name of at most 25 small letters, digits and hyphens that begins with a letter"
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
        # What RFC 3986 lets stand in an address, but for the apostrophe.
        pattern=r"docker|pyxis|nccl|neuron|(?:https|s3)://[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]+",
        expected=(
            "`docker`, `pyxis`, `nccl`, `neuron`, or the `https://` or `s3://` address of a script"
        ),
        example="pyxis",
    ),
]
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
BucketName = Annotated[
    str,
    Form(
        pattern=r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
        expected="the name of an S3 bucket",
        example="training-scripts",
    ),
]
# https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html, `S3Access/KeyName`
ObjectKey = Annotated[
    str,
    Form(
        pattern=r"[^/\s][^\r\n]{0,1023}",
        expected="the key of an object, or a prefix and `*`, without a slash at the beginning",
        example="data/*",
    ),
]
_PUBLIC_KEY = Form(
    pattern=r"(?:ssh-ed25519|ssh-rsa) [A-Za-z0-9+/]+={0,3}(?: [^\r\n]*)?",
    expected="one whole line of a public key file: `ssh-ed25519` or `ssh-rsa`, and the key",
    example="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn",
    where="the line in the `.pub` file of your key pair, such as ~/.ssh/id_ed25519.pub",
)
_FIELDS = {"ssh-ed25519": 2, "ssh-rsa": 3}
"""Fields of a key, its type among them: https://www.rfc-editor.org/rfc/rfc8709#section-4 and
https://www.rfc-editor.org/rfc/rfc4253#section-6.6."""


def _whole_key(line: str) -> str:
    """Return a key without its comment, a change of which would be another key pair.

    Refuses a key that was cut or mistyped; EC2 would, in the middle of an update.
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
    """Return the fields of a key: each has its length in four bytes before it.

    Raises:
        ValueError: the last field is cut.
    """
    fields: list[bytes] = []
    while blob:
        length = int.from_bytes(blob[:4])
        field, blob = blob[4 : 4 + length], blob[4 + length :]
        if not length or len(field) != length:
            raise ValueError("the key is cut")
        fields.append(field)
    return fields


# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-key-pairs.html#how-to-generate-your-own-key-and-import-it-to-aws
PublicKey = Annotated[str, _PUBLIC_KEY, AfterValidator(_whole_key)]
LambdaArn = Annotated[
    str,
    Form(
        pattern=r"arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:[A-Za-z0-9_-]{1,64}",
        expected="the ARN of the Lambda function of a ParallelCluster provider stack",
        example="arn:aws:lambda:us-west-2:123456789012:function:pcluster-cfn-provider",
    ),
]
TemplateUrl = Annotated[
    str,
    Form(
        pattern=r"https?://[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]+",
        expected="the address of a CloudFormation template in S3",
        example="https://s3.us-west-2.amazonaws.com/templates/cluster.yaml",
    ),
]
# https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html: mount directories
LocalDirectory = Annotated[
    str,
    Form(
        pattern=rf"/[^{NOT_IN_PATHS}/]+(?:/[^{NOT_IN_PATHS}/]+)*",
        expected="an absolute path without blanks and without what a shell would obey",
        example="/scratch",
    ),
]
SlurmParameter = Annotated[
    str,
    Form(pattern=r"[A-Za-z][A-Za-z0-9_]*", expected="a Slurm parameter", example="JobCompType"),
]
# A second line would be a parameter of its own in slurm.conf.
SlurmSettings = dict[SlurmParameter, Line]
