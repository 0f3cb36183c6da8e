"""The table of update policies is read as a tree."""

from __future__ import annotations

import pytest

from trainyard.components.parallelcluster.update_verdicts import Policy, rules, rules_of

SECTIONS = {"Image", "HeadNode", "Scheduling", "SharedStorage", "Monitoring", "Tags", "Imds"}


def test_the_table_knows_every_section_that_is_rendered():
    assert set(rules().settings) >= SECTIONS | {"Region"}


def test_a_list_says_what_tells_its_items_apart():
    queues = rules().settings["Scheduling"].settings["SlurmQueues"]
    assert (queues.item_name, queues.policy) == ("Name", Policy.RESIZE_UPDATE_STRATEGY_ON_REMOVE)
    assert rules().settings["Tags"].item_name == "Key"


def test_a_setting_has_the_policy_of_its_line():
    head = rules().settings["HeadNode"]
    assert head.policy is Policy.SUPPORTED
    assert head.settings["InstanceType"].policy is Policy.UNSUPPORTED


def test_several_scripts_have_the_policy_of_one():
    queue = rules().settings["Scheduling"].settings["SlurmQueues"]
    scripts = queue.settings["CustomActions"].settings["OnNodeStart"].settings
    assert scripts["Sequence"].policy is scripts["Script"].policy


def test_a_policy_without_a_meaning_is_an_error():
    with pytest.raises(ValueError, match="SOMETIMES"):
        rules_of(["Image.Os SOMETIMES"])
