"""Names of EFS file systems."""

from trainyard.policies.rules.storage.efs_named import POLICY

from tests.support.policy import Declared, check

EFS = "aws:efs/fileSystem:FileSystem"
VIOLATING = ((Declared(EFS, "home"),),)
CLEAN = ((Declared(EFS, "home", {"tags": {"Name": "home"}}),),)


def test_the_tag_is_named():
    assert "Name" in check(POLICY, *VIOLATING[0]).messages[0]
