"""A training job from a file, such as `train.yaml`.

Its keys are the fields of `TrainingRequest` and the number of nodes. Wrong keys and values are
problems with a fix, as in a stack file.
"""

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from trainyard.components.catalog.image_references import ImageReferenceError, parsed
from trainyard.components.config.base import Form, StrictModel, field_docs
from trainyard.components.config.keys import value_at
from trainyard.components.config.problems import ConfigError, Problem, nearest
from trainyard.jobs.secret_source import secret_source, secret_sources
from trainyard.jobs.training import MOST_RESTARTS
from trainyard.stack_files.yaml_limits import UnreadableYamlError
from trainyard.stack_files.yaml_reader import read_yaml


def _words(value: object) -> object:
    try:
        return shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {error}") from error


def _reference(text: str) -> str:
    secret_source(text)
    return text


def _image(text: str) -> str:
    try:
        parsed(text)
    except ImageReferenceError as error:
        raise PydanticCustomError("image", "{why}", {"why": error.why, "fix": error.fix}) from error
    return text


Words = Annotated[list[str], BeforeValidator(_words), Field(min_length=1)]
AbsolutePath = Annotated[
    str, Form(pattern=r"/.*", expected="an absolute path", example="/mnt/data")
]
SecretReference = Annotated[str, AfterValidator(_reference)]
Image = Annotated[str, AfterValidator(_image)]
Count = Annotated[int, Field(ge=1)]


class JobFile(StrictModel):
    """A program to run on the accelerators of a stack; None for what `run` decides."""

    name: str | None = None
    """Name of the job."""
    image: Image | None = None
    """Container image, `REGISTRY/PATH:TAG`; on Slurm also the path of a squashfs file."""
    command: Words | None = None
    """The program and its arguments: a text, or a list of words."""
    nodes: Count | None = None
    """Number of nodes."""
    minimum_nodes: Count | None = None
    """Number of nodes with which the job goes on after it has lost nodes."""
    environment: dict[str, str] | None = None
    """Variables of the program, by name. Everybody who may read the job sees the values."""
    secrets: dict[str, SecretReference] | None = None
    """Where the values of secret variables are, by name: `secret/NAME/KEY` for a key of a
    Kubernetes Secret, an ARN of Secrets Manager or Parameter Store for AWS Batch, or the path of a
    file with mode 0600 on the head node for Slurm."""
    mounts: dict[str, AbsolutePath] | None = None
    """Absolute paths of file systems in the container, by name in the stack file."""
    checkpoint_directory: AbsolutePath | None = None
    """Absolute path of a directory on shared storage."""
    restarts: Annotated[int, Field(ge=0, le=MOST_RESTARTS)] | None = None
    """How many times the program is started again after a failure."""
    time_limit_minutes: Count | None = None
    """Longest run of the job, in minutes."""
    files: list[str] | None = None
    """Text files below the directory of the job file, copied to the program's working directory."""
    launcher: Literal["torchrun", "mpi", "none"] | None = None
    """`torchrun` and `mpi` start the program once per accelerator, `none` once per node."""

    def given(self) -> dict[str, Any]:
        """Return the fields with a value, by name; secrets as what their references name."""
        found = self.model_dump(exclude_unset=True, exclude_none=True)
        if "secrets" in found:
            found["secrets"] = secret_sources(found["secrets"].items())
        return found


def read_job_file(path: Path) -> JobFile:
    """Return the job of a file.

    Raises:
        ConfigError: every problem of the file.
        UnreadableYamlError: it is not YAML.
    """
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise UnreadableYamlError(
            f"{path} is not a mapping of keys to values; begin with `command: train.py`"
        )
    try:
        return JobFile.model_validate(content)
    except ValidationError as error:
        problems = [_problem(each, content) for each in error.errors(include_url=False)]
        raise ConfigError(problems, stack_file=path.name) from error


def _problem(error: ErrorDetails, content: dict[Any, Any]) -> Problem:
    location = error["loc"]
    key, found = str(location[0]), value_at(content, location)
    path = ".".join(map(str, location))
    if error["type"] == "extra_forbidden":
        meant = nearest(key, sorted(JobFile.model_fields))
        return Problem(
            path=path,
            problem="is not a key of a job" + (f"; the nearest is `{meant}`" if meant else ""),
            allowed=", ".join(JobFile.model_fields),
            remedy=f"rename it to `{meant}`, or remove it" if meant else "remove it",
        )
    message = error["msg"].removeprefix("Value error, ")
    context = error.get("ctx") or {}
    example = context.get("example")
    if key == "secrets":
        found = None  # somebody may have written the secret there
    text = error["type"] == "string_type" and isinstance(found, bool | int | float)
    fix = f"use a value such as {example}" if example else context.get("fix", "change the value")
    return Problem(
        path=path,
        problem=message[:1].lower() + message[1:],
        found=found,
        allowed=" ".join(field_docs(JobFile)[key].split()).rstrip("."),
        remedy=f'write it in quotes: "{found}"' if text else fix,
    )
