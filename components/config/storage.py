"""File systems that a cluster mounts, of every kind."""

from typing import Annotated

from pydantic import AfterValidator, Field

from trainyard.components.config.efs import ExistingEfs, NewEfs
from trainyard.components.config.fsx_lustre import ExistingFsxLustre, NewFsxLustre
from trainyard.components.config.lustre_review import without_contradictions
from trainyard.components.config.open_zfs import ExistingFsxOpenZfs, NewFsxOpenZfs
from trainyard.components.config.shared_ebs import ExistingSharedEbs, NewSharedEbs

FileSystem = Annotated[
    Annotated[NewFsxLustre, AfterValidator(without_contradictions)]
    | ExistingFsxLustre
    | NewEfs
    | ExistingEfs
    | NewFsxOpenZfs
    | ExistingFsxOpenZfs
    | NewSharedEbs
    | ExistingSharedEbs,
    Field(discriminator="kind"),
]
