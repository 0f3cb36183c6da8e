"""ARNs of secrets as containers of AWS Batch name them (`valueFrom`).

Source:
    https://docs.aws.amazon.com/batch/latest/userguide/specifying-sensitive-data-secrets.html:
        `:JSON_KEY:VERSION_STAGE:VERSION_ID` after the ARN of a secret, where parts can be empty
    https://docs.aws.amazon.com/batch/latest/userguide/specifying-sensitive-data-parameters.html
    https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html, `Name`:
        Secrets Manager adds a hyphen and six random characters, without which no role may read it
    https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-su-create.html:
        letters, digits and `.-_/` in names of parameters
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLACE = r"[a-z0-9-]{1,30}:\d{12}"
SECRET_ARN = (
    rf"arn:aws[a-z-]{{0,20}}:secretsmanager:{_PLACE}:secret:"
    r"[A-Za-z0-9/_+=.@-]{1,512}-[A-Za-z0-9]{6}"
    r"(?::[^:\s]{0,256}:[A-Za-z0-9/_+=.@-]{0,256}:[A-Za-z0-9-]{0,64})?"
    rf"|arn:aws[a-z-]{{0,20}}:ssm:{_PLACE}:parameter/[A-Za-z0-9_./-]{{1,1011}}"
)
"""Pattern of such an ARN."""
_PARTS_OF_ARN = 7


@dataclass(frozen=True, slots=True)
class SecretArn:
    """An ARN that fits `SECRET_ARN`."""

    text: str
    """As `valueFrom` has it."""

    @property
    def arn(self) -> str:
        """The ARN of the secret or parameter itself, without key and version."""
        if self.service == "ssm":
            return self.text
        return ":".join(self.text.split(":")[:_PARTS_OF_ARN])

    @property
    def service(self) -> str:
        """`secretsmanager` or `ssm`."""
        return self.text.split(":")[2]

    @property
    def region(self) -> str:
        """Region of the secret or parameter."""
        return self.text.split(":")[3]

    @property
    def account_id(self) -> str:
        """Account of the secret or parameter."""
        return self.text.split(":")[4]

    @property
    def parameter(self) -> str:
        """Name of the parameter, as the ARN has it; empty for a secret.

        A name with levels begins with a slash; an ARN does not tell `/a` from `a`.
        """
        return self.text.partition(":parameter")[2]

    @property
    def json_key(self) -> str:
        """Key of the value in a secret that is a JSON document; empty for the whole secret."""
        return "".join(self.text.split(":")[_PARTS_OF_ARN : _PARTS_OF_ARN + 1])


def secret_arn(text: str) -> SecretArn | None:
    """Return the ARN in a text; None if it is none of a secret or a parameter."""
    return SecretArn(text) if re.fullmatch(SECRET_ARN, text, re.ASCII) else None
