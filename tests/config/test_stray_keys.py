"""Keys of a stack that the program does not read."""

from trainyard.components.config.load import stray_keys


def test_keys_that_nothing_reads_are_those_of_the_program_beside_its_own():
    names = ["aws:region", "trainyard:cluster", "trainyard:vpc_id", "other:trainyard:x"]
    assert stray_keys(names) == ["trainyard:vpc_id"]
