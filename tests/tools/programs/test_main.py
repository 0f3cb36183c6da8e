"""``python -m tools.programs`` fills the cache in advance."""

from pathlib import Path

import pytest

from tools.programs.__main__ import Programs, main
from trainyard.engine.pulumi_engine import PulumiEngine
from trainyard.sandbox.engine import EngineError, Plugin

PULUMI = PulumiEngine(directory=Path("/cache/pulumi"), version="3.0.0", origin="build")
AWS = Plugin(name="aws", version="7.0.0", origin="official", directory="/cache/aws")


def test_it_says_where_everything_is(capsys: pytest.CaptureFixture[str]) -> None:
    programs = Programs(PULUMI, (AWS,), {"etcd": ["/k/one", "etcd"]})
    assert main(lambda _: programs) == 0
    assert capsys.readouterr().err.splitlines() == [
        "Pulumi 3.0.0 (build): /cache/pulumi",
        "aws 7.0.0: official release: /cache/aws",
        "etcd: /k/one etcd",
    ]


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (EngineError("no Go"), 1, "error: no Go"),
        (KeyboardInterrupt(), 130, "the next run goes on from there"),
    ],
    ids=["error", "interrupted"],
)
def test_a_failure_is_one_message(
    failure: BaseException,
    code: int,
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: object) -> Programs:
        raise failure

    assert main(fail) == code
    assert words in capsys.readouterr().err
