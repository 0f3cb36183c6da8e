"""The newest version of a pin, from recorded answers of pip, Go, Git, a registry and AWS."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tools.pins import (
    EksAddon,
    EksAmi,
    EksVersions,
    GitHead,
    GitTags,
    GoModule,
    ImageTags,
    Pin,
    Place,
    PyPI,
    PythonReleases,
    Source,
    Unasked,
    newest_like,
)
from tools.pins.newest import Account, Answer, Clients, Command, look_up, run
from trainyard.components.compute.image_registry import RegistryError

TODAY = date(2026, 11, 22)

# What `go list -m -e -versions -json` printed, shortened.
GO = """{
	"Path": "k8s.io/kubernetes",
	"Version": "v1.37.2",
	"Query": "latest",
	"Versions": ["v1.35.4", "v1.36.1", "v1.36.3", "v1.38.0-alpha.1", "v1.37.2"],
	"Time": "2026-10-27T12:01:04Z"
}
{
	"Path": "github.com/pulumi/pulumi/pkg/v3",
	"Version": "latest",
	"Error": {
		"Err": "github.com/pulumi/pulumi/pkg/v3: 403 Forbidden\\n\\tThis version is not available."
	}
}
"""
PIP = json.dumps(
    {"name": "boto3", "versions": ["1.44.10", "1.44.9", "1.44.5"], "latest": "1.44.10"}
)
GIT = (
    "1111111111111111111111111111111111111111\trefs/tags/v2.9.9-1\n"
    "2222222222222222222222222222222222222222\trefs/tags/v2.31.2-1\n"
    "3333333333333333333333333333333333333333\trefs/tags/v2.40.0-rc1\n"
)


class Recorded:
    """Answers commands by a word that they must contain, and records them."""

    def __init__(self, answers: Mapping[str, Command | str]) -> None:
        self.answers = answers
        self.asked: list[Sequence[str]] = []

    def __call__(self, command: Sequence[str]) -> Command:
        self.asked.append(command)
        for word, answer in self.answers.items():
            if word in command:
                return (
                    answer
                    if isinstance(answer, Command)
                    else Command(returncode=0, output=answer, error="")
                )
        raise AssertionError(f"nobody should ask {command}")


def pin(source: Source, version: str, *, series: int = 0) -> Pin:
    place = Place(file="some.py", line=1, start=0, text=version)
    return Pin(name="it", source=source, places=(place,), series=series)


def ask(source: Source, version: str, *, series: int = 0, **clients: Any) -> Answer:
    run = Recorded({"go": GO, "index": PIP, "ls-remote": GIT})
    known = {"run": run} | clients
    return look_up([pin(source, version, series=series)], Clients(today=TODAY, **known))["it"]


def test_pip_is_asked_for_a_package() -> None:
    recorded = Recorded({"boto3": PIP})

    answer = ask(PyPI(project="boto3"), "1.44.5", run=recorded, python="python3")

    assert answer == Answer(newest="1.44.10")
    assert recorded.asked == [
        [
            "python3",
            "-m",
            "pip",
            "--disable-pip-version-check",
            "index",
            "versions",
            "--json",
            "boto3",
        ]
    ]


def test_what_pip_says_is_the_reason() -> None:
    failed = Command(returncode=1, output="", error="ERROR: No matching distribution\n  found\n")

    answer = ask(PyPI(project="boto3"), "1.44.5", run=Recorded({"index": failed}))

    assert answer == Answer(reason="pip: ERROR: No matching distribution found")


def test_go_is_asked_once_for_all_modules() -> None:
    recorded = Recorded({"go": GO})
    sources = ("k8s.io/kubernetes", "github.com/pulumi/pulumi/pkg/v3")
    wanted = [
        Pin(name=path, source=GoModule(path=path), places=pin(PyPI(project="x"), "1.36.1").places)
        for path in sources
    ]

    answers = look_up(wanted, Clients(today=TODAY, run=recorded))

    assert len(recorded.asked) == 1
    assert answers["k8s.io/kubernetes"].newest == "1.37.2"
    refused = answers["github.com/pulumi/pulumi/pkg/v3"]
    assert refused.newest is None
    assert "403 Forbidden This version is not available." in refused.reason


def test_a_series_is_kept_and_a_later_one_is_said() -> None:
    answer = ask(GoModule(path="k8s.io/kubernetes"), "1.36.1", series=2)

    assert answer == Answer(newest="1.36.3", note="1.37.2 is of a later series")


def test_a_list_that_ends_before_the_pin_is_no_answer() -> None:
    # A proxy does not list every version that it serves.
    answer = ask(GoModule(path="k8s.io/kubernetes"), "1.40.0")

    assert answer == Answer(reason="what is listed ends at 1.37.2, before the pinned version")


def test_git_lists_tags_and_the_newest_commit() -> None:
    url = "https://example.org/a/b"
    head = Recorded({"HEAD": "4444444444444444444444444444444444444444\tHEAD\n"})

    assert ask(GitTags(url=url), "v2.30.4-1") == Answer(newest="2.31.2-1")
    assert ask(GitHead(url=url), "1" * 40, run=head) == Answer(newest="4" * 40)
    assert ask(GitHead(url=url), "1" * 40, run=Recorded({"HEAD": ""})) == Answer(
        reason="git: the repository lists nothing"
    )


@pytest.mark.parametrize(
    ("pinned", "versions", "series", "newest"),
    [
        ("1.2.9", ["v1.2.10", "v1.2.11-rc.1", "latest"], 0, "1.2.10"),
        (
            "1.35.6-eks-1-35-13",
            ["v1.35.6-eks-1-35-20", "v1.36.1-eks-1-36-2"],
            2,
            "1.35.6-eks-1-35-20",
        ),
        (
            "13.1.2-devel-ubuntu22.04",
            ["13.2.0-devel-ubi9", "13.1.3-devel-ubuntu22.04"],
            0,
            "13.1.3-devel-ubuntu22.04",
        ),
        ("5", ["v6", "v6.1.0"], 0, "6"),
        (
            "2.0.0-20260318212141-5525259d096b",
            ["v2.0.0-20260401000000-a1a1a1a1a1a1"],
            0,
            "2.0.0-20260401000000-a1a1a1a1a1a1",
        ),
        ("1.0", ["one"], 0, None),
    ],
)
def test_the_newest_is_spelled_like_the_pinned(
    pinned: str, versions: list[str], series: int, newest: str | None
) -> None:
    assert newest_like(pinned, versions, series) == newest


def test_what_no_client_lists_says_where_to_read_it() -> None:
    assert ask(Unasked(reason="read it there"), "1.0") == Answer(reason="read it there")


def test_python_is_the_newest_that_is_released() -> None:
    assert ask(PythonReleases(), "3.11").newest == "3.15"


@pytest.mark.parametrize(
    ("source", "call"),
    [
        (EksVersions(), "eks:DescribeClusterVersions"),
        (EksAddon(addon="coredns", minor="1.35"), "eks:DescribeAddonVersions"),
        (EksAmi(minor="1.35"), "ssm:GetParameter"),
    ],
)
def test_without_an_account_the_call_that_it_needs_is_named(source: Source, call: str) -> None:
    answer = ask(source, "1.35", no_account="there are no AWS credentials")

    assert answer == Answer(reason=f"needs {call}: there are no AWS credentials")


def account(service: str, method: str, response: Mapping[str, Any] | str) -> Account:
    """Return an account whose only client answers according to botocore's model of the service."""
    client = boto3.client(
        service, region_name="us-west-2", aws_access_key_id="x", aws_secret_access_key="x"
    )
    stubber = Stubber(client)
    if isinstance(response, str):
        stubber.add_client_error(method, response)
    else:
        stubber.add_response(method, response)
    stubber.activate()
    return Account(lambda name: {service: client}[name])


def test_an_account_gives_the_default_of_an_addon_and_says_what_is_newer() -> None:
    offered = [
        {"addonVersion": "v1.14.0-eksbuild.1", "compatibilities": [{"clusterVersion": "1.35"}]},
        {
            "addonVersion": "v1.13.2-eksbuild.31",
            "compatibilities": [{"clusterVersion": "1.35", "defaultVersion": True}],
        },
    ]
    response = {"addons": [{"addonName": "coredns", "addonVersions": offered}]}
    asked = account("eks", "describe_addon_versions", response)

    answer = ask(EksAddon(addon="coredns", minor="1.35"), "v1.13.2-eksbuild.9", account=asked)

    assert answer == Answer(
        newest="1.13.2-eksbuild.31", note="EKS's default; v1.14.0-eksbuild.1 exists too"
    )
    other = ask(EksAddon(addon="none", minor="1.35"), "1.0", account=asked)
    assert other == Answer(reason="eks:DescribeAddonVersions lists no version")


def test_an_account_gives_the_kubernetes_versions_and_the_release_of_the_ami() -> None:
    listed = {"clusterVersions": [{"clusterVersion": "1.9"}, {"clusterVersion": "1.36"}]}
    release = {"Parameter": {"Value": "1.35.8-20261112"}}

    versions = account("eks", "describe_cluster_versions", listed)
    ami = account("ssm", "get_parameter", release)

    assert ask(EksVersions(), "1.35", account=versions).newest == "1.36"
    assert ask(EksAmi(minor="1.35"), "1.35.7-20260911", account=ami).newest == "1.35.8-20261112"


def test_an_account_that_refuses_is_no_reason_to_end() -> None:
    refusing = account("eks", "describe_cluster_versions", "AccessDeniedException")

    answer = ask(EksVersions(), "1.35", account=refusing)

    assert answer.reason.startswith("eks:DescribeClusterVersions failed: ")
    assert "AccessDeniedException" in answer.reason


def test_tags_of_an_image_and_a_registry_that_is_out_of_reach() -> None:
    def unreachable(repository: str) -> list[str]:
        raise RegistryError(f"{repository} cannot be reached")

    source = ImageTags(repository="example.org/a/b")

    assert ask(source, "v0.20.0", tags=lambda _: ["v0.20.1", "latest"]).newest == "0.20.1"
    assert ask(source, "v0.20.0", tags=unreachable).reason == "example.org/a/b cannot be reached"


def test_a_client_that_is_not_installed_is_said() -> None:
    assert run(["no-such-client-of-this-test"]).error == (
        "no-such-client-of-this-test is not on the PATH"
    )
