"""What the states of stacks refer to by name: never rename this module or what it holds.

The engine starts a dynamic provider in the directory of the program. This module is importable
there in a clone, whose root it is in, and in every environment that has the package.
"""

import sys
from pathlib import Path

_SOURCE = Path(__file__).resolve().parent / "src"
if _SOURCE.is_dir():  # a clone
    sys.path.append(str(_SOURCE))

from trainyard.components.runtime.aws_auth import AwsAuthProvider  # noqa: E402

AWS_AUTH = AwsAuthProvider()
"""The provider of the entries in `aws-auth`."""


def __getattr__(name: str) -> object:
    """Refuse what this version does not have: a newer version has written the state.

    Raises:
        AttributeError: always.
    """
    # Programs that find everything do without the modules of the command line.
    from trainyard.workspace.exported_state import newer_state

    raise AttributeError(newer_state("this stack", name))
