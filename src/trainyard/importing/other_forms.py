"""Files that another program converts into what can be read, and the command that does it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from trainyard.importing.reading import text_at
from trainyard.stack_files.yaml_limits import UnreadableYamlError

_ZIP = b"PK\x03\x04"
"""Begin of a plan that `terraform plan -out` writes: `internal/plans/planfile` of Terraform."""
_FORMS: Mapping[re.Pattern[str], str] = {
    # https://docs.aws.amazon.com/parallelcluster/latest/ug/configuration.html
    re.compile(r"\s*(?:[#;][^\n]*\n\s*)*\[(?:aws|global|aliases|cluster\b[^\]]*)\]"): (
        "is a configuration of ParallelCluster 2; convert it with "
        "`pcluster3-config-converter --config-file {path} --output-file NEW.yaml` (it is in the "
        "package aws-parallelcluster), and read NEW.yaml"
    ),
    # `internal/states/statefile/version4.go` of Terraform: the order of the fields.
    re.compile(r'\s*\{\s*"version":\s*\d+,\s*"terraform_version":'): (
        "is a state in the form in which Terraform stores it, which differs between versions; "
        "print it with `terraform show -json {path} > state.json`, and read state.json"
    ),
    # https://developer.hashicorp.com/terraform/internals/machine-readable-ui
    re.compile(r'\s*\{"@level":'): (
        "is the log of `terraform plan -json`, which has no values; save the plan with "
        "`terraform plan -out tfplan`, print it with `terraform show -json tfplan > plan.json`, "
        "and read plan.json"
    ),
}
"""What to do with a file by how it begins."""
_PLAN = (
    "is a plan in the form in which Terraform stores it; print it with "
    "`terraform show -json {path} > plan.json` in the directory where it was made, and read "
    "plan.json"
)


def refuse_other_form(path: Path) -> None:
    """Check that a file is not in a form that must be converted first.

    Raises:
        UnreadableYamlError: it is; the message has the command. Or it cannot be read.
    """
    if not path.is_file():
        return
    with suppress(OSError), path.open("rb") as file:
        if file.read(len(_ZIP)) == _ZIP:
            raise UnreadableYamlError(f"{path}: {_PLAN.format(path=path)}")
    text = text_at(path)
    for begin, what_to_do in _FORMS.items():
        if begin.match(text):
            raise UnreadableYamlError(f"{path}: {what_to_do.format(path=path)}")
