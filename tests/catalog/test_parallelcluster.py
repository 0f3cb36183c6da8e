"""The catalog's data about ParallelCluster, compared with the package."""

from __future__ import annotations

import json
import re

import pytest

from tools.parallelcluster.process import program_environment, run
from trainyard.components.catalog import parallelcluster as catalog
from trainyard.sandbox.access import NO_ACCOUNT

_ASK = """
import json
from importlib.resources import files
from pcluster import constants as c
from pcluster.validators.cluster_validators import NAME_MAX_LENGTH
from pcluster.validators.slurm_settings_validator import SLURM_SETTINGS_DENY_LIST as denied
print(json.dumps({
    "NAME_LIMIT": c.PCLUSTER_NAME_MAX_LENGTH,
    "MAXIMUM_QUEUES": c.MAX_NUMBER_OF_QUEUES,
    "MAXIMUM_COMPUTE_RESOURCES": c.MAX_NUMBER_OF_COMPUTE_RESOURCES_PER_CLUSTER,
    "MAXIMUM_TAGS": c.MAX_TAGS_COUNT,
    "RESERVED_TAG_PREFIX": c.PCLUSTER_PREFIX,
    "MINIMUM_ROOT_VOLUME_GIB": c.EBS_ROOT_VOLUME_SIZE_DEFAULT,
    "OPERATING_SYSTEMS_WITHOUT_AMI": c.PRIVATE_OSES,
    "CAPACITY_BLOCK_UNSUPPORTED_REGIONS": c.UNSUPPORTED_FEATURES_MAP[c.Feature.CAPACITY_BLOCK],
    "DENIED_SLURM_SETTINGS": denied["SlurmConf"]["Global"],
    "DENIED_PARTITION_SETTINGS": denied["Queue"]["Global"],
    "DENIED_NODE_SETTINGS": denied["ComputeResource"]["Global"],
    "REGIONS": (files("pcluster") / "resources" / "supported-regions").read_text().split(),
}))
"""


@pytest.mark.parallelcluster
def test_the_catalog_is_that_of_the_package():
    with program_environment(account=NO_ACCOUNT, region="us-west-2") as environment:
        done = run(["-c", _ASK], environment)
    package = json.loads(done.stdout)
    ours = {name: getattr(catalog, name) for name in package}
    assert {name: plain(value) for name, value in ours.items()} == {
        name: plain(value) for name, value in package.items()
    }


def plain(value: object) -> object:
    return sorted(value) if isinstance(value, list | tuple | frozenset) else value


@pytest.mark.parametrize("name", ["pc", "A1", "pc-p4de-ami"])
def test_names_of_the_right_form_fit(name: str):
    assert re.fullmatch(catalog.NAME_PATTERN, name)


@pytest.mark.parametrize("name", ["1pc", "pc_1", "-pc", "pc.1", ""])
def test_names_of_another_form_do_not(name: str):
    assert re.fullmatch(catalog.NAME_PATTERN, name) is None
