"""Calls to the engine that the program makes without waiting, with stand-ins for its services."""

import asyncio
from importlib.metadata import version

import pulumi
import pytest
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc
from pulumi_aws import _utilities

from tests.support import aws_sdk
from trainyard.components import engine_calls
from trainyard.components.engine_calls import (
    NotesNotAwaited,
    await_no_notes,
    begin_with,
    start_aws_provider,
)


class Call:
    """A call of a stub: its request, and whether the caller waited for the answer."""

    def __init__(self):
        self.awaited, self.sent = [], []

    def __call__(self, request):
        self.awaited.append(request)

    def future(self, request):
        self.sent.append(request)
        return request


class Engine:
    """The engine's service, with two of its calls."""

    def __init__(self):
        self.Log, self.GetRootResource = Call(), Call()


def message(severity):
    return engine_pb2.LogRequest(severity=severity, message="said")


def test_a_note_for_debugging_is_sent_and_not_awaited():
    engine = Engine()
    NotesNotAwaited(engine).Log(message(engine_pb2.DEBUG))
    assert (len(engine.Log.sent), engine.Log.awaited) == (1, [])


@pytest.mark.parametrize("severity", [engine_pb2.INFO, engine_pb2.WARNING, engine_pb2.ERROR])
def test_what_is_said_to_the_user_is_there_before_the_program_goes_on(severity):
    engine = Engine()
    NotesNotAwaited(engine).Log(message(severity))
    assert (engine.Log.sent, len(engine.Log.awaited)) == ([], 1)


def test_every_other_call_is_the_engines_own():
    engine = Engine()
    assert NotesNotAwaited(engine).GetRootResource is engine.GetRootResource


class Stub(engine_pb2_grpc.EngineStub):
    """The SDK's own class, without a channel."""

    def __init__(self):
        self.Log = Call()


@pytest.fixture
def settings(monkeypatch):
    """Return the SDK's settings, and restore engine, monitor and mode after the test."""
    kept = pulumi.runtime.settings.SETTINGS
    before = kept.engine, kept.monitor, kept.dry_run
    yield kept
    kept.engine, kept.monitor, kept.dry_run = before


def test_the_notes_of_the_sdk_go_the_same_way(settings):
    settings.engine = stub = Stub()
    await_no_notes()
    pulumi.log.debug("a note")
    pulumi.log.warn("a warning")
    assert [request.message for request in stub.Log.sent] == ["a note"]
    assert [request.message for request in stub.Log.awaited] == ["a warning"]


def test_where_no_engine_is_nothing_is_put_in_its_place(settings):
    settings.engine = None
    await_no_notes()
    assert settings.engine is None


class Monitor:
    """The monitor's service, with the call that invokes functions."""

    def __init__(self):
        self.Invoke = Call()


def test_a_preview_starts_the_provider_that_the_resources_will_use(settings):
    settings.monitor, settings.dry_run = Monitor(), True
    start_aws_provider()
    (request,) = settings.monitor.Invoke.sent
    assert request.version == _utilities.get_version() == version("pulumi_aws")
    assert aws_sdk.results(request.tok)


def test_an_update_starts_no_provider_before_the_account_was_looked_at(settings):
    settings.monitor, settings.dry_run = Monitor(), False
    assert start_aws_provider() is None
    assert settings.monitor.Invoke.sent == []


class Registered:
    """A resource whose URN the engine has not yet returned."""

    def __init__(self, answers):
        self._answers = answers

    @property
    def urn(self):
        return self

    async def future(self):
        self._answers.append("asked")
        await asyncio.Event().wait()


@pytest.mark.parametrize(("dry_run", "answers"), [(True, ["asked"]), (False, [])])
def test_only_a_preview_begins_before_the_program_has_ended(
    settings, monkeypatch, dry_run, answers
):
    monkeypatch.setattr(engine_calls, "SECONDS_TO_SEND", 0.0)
    settings.dry_run, asked = dry_run, []

    async def program():
        begin_with(Registered(asked))

    # Not `asyncio.run`, which leaves the thread without a loop for the tests after this one.
    loop = asyncio.new_event_loop()
    loop.run_until_complete(program())
    loop.close()
    assert asked == answers
