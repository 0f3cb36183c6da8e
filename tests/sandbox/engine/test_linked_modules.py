"""The modules that link packages of the engine: their versions and checksums."""

from __future__ import annotations

from trainyard.sandbox.engine.linked_modules import aligned, needed_sums, required

ENGINE_MOD = """module engine

go 1.26.6

require example.com/pkg/v3 v3.260.0

require (
	example.com/shared v1.46.0 // indirect
)
"""
MODULE = """module plugin

go 1.26.0

require (
	example.com/provider v0.0.0
	example.com/shared v1.45.0 // indirect
)

replace example.com/provider => ../provider
"""


def test_shared_modules_and_go_get_the_versions_of_the_engine() -> None:
    expected = MODULE.replace("1.26.0", "1.26.6").replace("v1.45.0", "v1.46.0")
    assert aligned(MODULE, ENGINE_MOD) == expected


def test_checksums_of_older_versions_are_left_out() -> None:
    known = "\n".join(
        [
            "example.com/shared v1.45.0 h1:old=",
            "example.com/shared v1.45.0/go.mod h1:old=",
            "example.com/of-a-test v1.0.0/go.mod h1:x=",
        ]
    )
    loaded = [
        "example.com/never-built v0.1.0/go.mod h1:x=",
        "example.com/of-a-test v1.0.0/go.mod h1:x=",
        "example.com/shared v1.44.0/go.mod h1:older=",
        "example.com/shared v1.45.0/go.mod h1:old=",
        "example.com/shared v1.46.0 h1:new=",
        "example.com/shared v1.46.0/go.mod h1:new=",
    ]
    found = needed_sums(known, "\n".join(loaded) + "\n", required(aligned(MODULE, ENGINE_MOD)))
    assert found.splitlines() == [loaded[1], *loaded[4:]]
