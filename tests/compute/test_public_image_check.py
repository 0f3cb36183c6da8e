"""Every image that a stack puts on its nodes is looked up, and a missing one is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.account_fixtures import account, reader, server

from trainyard.components.compute.image_registry import EMULATED_REGISTRIES, is_public  # isort: skip
from trainyard.components.named.facts import OwnerFacts

from trainyard.components.compute.facts import PublicImageFacts  # isort: skip
from trainyard.components.account.reader import read_side_by_side  # isort: skip
from trainyard.components.architectures.lookup import account_facts, account_readings  # isort: skip
from trainyard.components.architectures.prepare import Examined, examine  # isort: skip
from trainyard.components.catalog.neuron import NCCOM_TEST_IMAGE  # isort: skip
from trainyard.components.catalog.versions import DCGM_IMAGE, EKS_VERSIONS, NCCL_TESTS_IMAGE  # isort: skip
from trainyard.components.named.made_names import JOB_QUEUE  # isort: skip
from trainyard.components.catalog.image_digests import by_content

from trainyard.components.eks.addons import jobset, kueue  # isort: skip
from trainyard.components.eks.addons import node_termination_handler  # isort: skip
from trainyard.components.eks.addons import nvidia_device_plugin  # isort: skip
from trainyard.components.architectures.preflight import run_preflight  # isort: skip
from trainyard.components.tagging import CLUSTER_TAG  # isort: skip
from trainyard.sandbox import registries  # isort: skip
from tests.support.eks import cluster_facts  # isort: skip
from trainyard.stack_files.stack_config import config_of  # isort: skip
from tools.pins import ImageTags
from tools.pins.registry import pins
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_files import StackFile, find_stack_file

__all__ = ["account", "reader", "server"]

CLUSTER = "trainyard:cluster"
pytestmark = pytest.mark.usefixtures("account")


def stack(name: str, change: Callable[[dict[str, Any]], None] = lambda _: None) -> StackFile:
    found = completed(find_stack_file(name), sandbox_completion(find_stack_file(name)))
    content = copy.deepcopy(dict(found.content))
    change(content["config"][CLUSTER])
    return replace(found, content=content)


def examined(file: StackFile, reader: Any, **changes: Any) -> Examined:
    config = config_of(file)
    facts = account_facts(read_side_by_side(account_readings(reader, config)), reader, config)
    images = {**facts.public_images, **changes.pop("public_images", {})}
    facts = replace(facts, public_images=images, **changes)
    return examine(config, facts, stack_file=file.name, region="us-west-2", now=datetime.now(UTC))


def images_of(found: Examined) -> set[str]:
    checks = [each for each in found.checks if each.name == "public images"]
    return {subject.found for check in checks for subject in check.subjects}


def gone(image: str) -> dict[str, PublicImageFacts]:
    return {image: PublicImageFacts(missing="HTTP 404, MANIFEST_UNKNOWN")}


def with_queue(cluster: dict[str, Any]) -> None:
    cluster["architecture"]["addons"] = {"kueue": True, "jobset": True}


def test_the_images_of_add_ons_and_of_verify_are_looked_up(reader):
    found = images_of(examined(stack("p5-cb", with_queue), reader))
    expected = {kueue.IMAGE, jobset.IMAGE, node_termination_handler.IMAGE}
    assert expected | {NCCL_TESTS_IMAGE, DCGM_IMAGE} <= found
    trainium = images_of(examined(stack("eks-trn1"), reader))
    assert {NCCOM_TEST_IMAGE, EKS_VERSIONS["1.36"].kube_scheduler_image} <= trainium
    assert all(map(is_public, found | trainium))


def test_the_images_of_jobs_are_looked_up(reader):
    assert images_of(examined(stack("batch-p5"), reader)) == {NCCL_TESTS_IMAGE}


@pytest.mark.parametrize("name", ["p5-cb", "eks-trn1", "batch-p5", "batch-trn1", "pc-trn1"])
def test_a_stack_whose_images_exist_has_no_problem(reader, name):
    found = examined(stack(name), reader)
    assert found.problems == ()
    assert not [warning for warning in found.warnings if "registry" in warning]


@pytest.mark.parametrize(
    ("image", "key", "fix"),
    [
        (kueue.IMAGE, "architecture.addons.kueue", "architecture.addons.kueue' false"),
        (by_content(nvidia_device_plugin.IMAGE), "architecture", "update trainyard"),
    ],
)
def test_a_missing_image_of_an_add_on_is_refused_with_a_way_without_it(reader, image, key, fix):
    found = examined(stack("p5-cb", with_queue), reader, public_images=gone(image))
    (problem,) = found.problems
    assert (problem.path, problem.found) == (f"{CLUSTER}.{key}", image)
    assert "HTTP 404, MANIFEST_UNKNOWN" in problem.problem
    assert fix in problem.remedy


def test_a_missing_image_of_a_job_is_refused_at_its_key(reader):
    """The emulated registry has this repository, but no such tag."""
    wrong = "public.ecr.aws/hpc-cloud/nccl-tests:cuda99"

    def change(cluster: dict[str, Any]) -> None:
        cluster["architecture"]["job_definitions"]["nccl-tests"]["image"] = wrong

    (problem,) = examined(stack("batch-p5", change), reader).problems
    assert problem.path == f"{CLUSTER}.architecture.job_definitions.nccl-tests.image"
    assert problem.found == wrong


def test_an_image_of_verify_does_not_keep_a_stack_from_coming_up(reader):
    found = examined(stack("p5-cb"), reader, public_images=gone(DCGM_IMAGE))
    assert found.problems == ()
    assert [warning for warning in found.warnings if DCGM_IMAGE in warning]
    assert DCGM_IMAGE not in images_of(found)


def test_a_cluster_that_runs_stays_operable(reader):
    missing = gone(node_termination_handler.IMAGE)
    found = examined(stack("p5-cb"), reader, cluster=cluster_facts(), public_images=missing)
    told = [each for each in found.warnings if node_termination_handler.IMAGE in each]
    assert told
    assert not [each for each in found.problems if each.found == node_termination_handler.IMAGE]
    assert node_termination_handler.IMAGE not in images_of(found)


def test_a_batch_stack_that_is_up_stays_operable(reader):
    owner = OwnerFacts(arn="arn:aws:batch:queue", tags={CLUSTER_TAG: "batch-p5"})
    has_queue = {(JOB_QUEUE, "batch-p5-p5"): owner}
    missing = gone(NCCL_TESTS_IMAGE)
    found = examined(stack("batch-p5"), reader, named=has_queue, public_images=missing)
    assert found.problems == ()
    assert [each for each in found.warnings if NCCL_TESTS_IMAGE in each]


def test_what_could_not_be_looked_up_is_said_and_refuses_nothing(reader, monkeypatch):
    monkeypatch.setenv(EMULATED_REGISTRIES, "http://127.0.0.1:9")
    file = stack("p5-cb")
    found = run_preflight(
        config_of(file), stack_file=file.name, region="us-west-2", now=datetime.now(UTC)
    )
    assert found.problems == ()
    told = [row.found for row in found.rows if row.verdict == "skipped"]
    assert any(node_termination_handler.IMAGE in text for text in told)
    assert all("cannot be reached" in text for text in told)


def test_the_image_of_a_repository_that_the_sandbox_does_not_know_is_only_said(reader):
    def change(cluster: dict[str, Any]) -> None:
        cluster["architecture"]["job_definitions"]["nccl-tests"]["image"] = "ghcr.io/me/mine:1"

    found = examined(stack("batch-p5", change), reader)
    assert found.problems == ()
    assert reader.not_read() == ("ghcr.io/me/mine:1: HTTP 401: it is private, or does not exist",)


def test_every_pinned_image_is_one_that_somebody_has_published():
    """The table of the emulated registries has a source for each tag; it is not the catalog."""
    pinned = {
        (pin.source.repository, place.text)
        for pin in pins().values()
        if isinstance(pin.source, ImageTags)
        for place in pin.places
        if place.file.startswith("components/")
        and "chart" not in pin.source.repository
        and "/helm/" not in pin.source.repository
    }
    known = {(name, tag) for name, row in registries.repositories().items() for tag in row["tags"]}
    assert len(pinned) > 10
    assert pinned - known == set()
