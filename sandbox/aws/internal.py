"""Internal endpoints of the sandbox, for its other processes on this machine.

`GET /_trainyard/identity?cluster=…&arn=…&session=…`: the data with which EKS authenticates a role.
`GET /_trainyard/caller?access_key=…`: the owner of an access key. `GET /_trainyard/health`. `GET
/_trainyard/clock`: the time of the account; POST with `?advance_seconds=…` advances it. `POST
/_trainyard/latency?scale=…`: the share of AWS's time that the account takes from now on.
`/_trainyard/faults`: GET returns the schedule in force, POST sets a schedule in YAML, whose paths
start in `?directory=…`, or puts it before the one in force with `&add=1`, DELETE ends it. `POST
/_trainyard/slurm-job?name=…`: counts the start of a job, and returns its recorded program, or null.
`/_trainyard/registries/KEY/HOST/…`: the emulated registry of a host
(`trainyard.sandbox.registries`).

All need the sandbox's access key (`trainyard.sandbox.aws.admission`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from trainyard.sandbox import registries
from trainyard.sandbox.access import CONTROL, REGISTRIES
from trainyard.sandbox.aws.admission import Admission
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.identity import caller_arn, identity
from trainyard.sandbox.aws.transitions import TRANSITIONS
from trainyard.sandbox.faults.in_force import FAULTS
from trainyard.sandbox.faults.schedule import FaultScheduleError, read_schedule
from trainyard.sandbox.slurm.recorded_jobs import recorded_program
from trainyard.sandbox.wsgi import Answer

Query = Mapping[str, str]


def answer(environ: Mapping[str, Any], body: bytes, admission: Admission) -> Answer:
    """Handle one request below `CONTROL`; its arguments are in the query, a schedule in `body`."""
    parsed = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    query = {key: values[0] for key, values in parsed.items()}
    method, name = environ["REQUEST_METHOD"], environ["PATH_INFO"].removeprefix(CONTROL)
    if name.startswith(REGISTRIES):
        return registries.answer(environ, name.removeprefix(REGISTRIES).partition("/")[2])
    if (method, name) == ("GET", "caller"):
        return _caller(query, admission)
    endpoint = _ENDPOINTS.get((method, name))
    if endpoint is None:
        return _json("404 NOT FOUND", {"message": f"the sandbox has no {method} {name}"})
    return endpoint(query, body)


def _identity(query: Query, _: bytes) -> Answer:
    missing = [name for name in ("cluster", "arn", "session") if name not in query]
    if missing:
        return _json("400 BAD REQUEST", {"message": f"missing: {', '.join(missing)}"})
    found = identity(query["cluster"], query["arn"], query["session"])
    if found is None:
        message = f"no EKS cluster is named {query['cluster']}"
        return _json("404 NOT FOUND", {"message": message})
    return _json("200 OK", found)


def _caller(query: Query, admission: Admission) -> Answer:
    if "access_key" not in query:
        return _json("400 BAD REQUEST", {"message": "missing: access_key"})
    if admission.account_of(query["access_key"]) is None:
        return _json("404 NOT FOUND", {"message": "no account has this access key"})
    return _json("200 OK", {"arn": caller_arn(query["access_key"])})


def _clock(query: Query, _: bytes) -> Answer:
    CLOCK.advance(timedelta(seconds=float(query.get("advance_seconds", 0))))
    ahead = CLOCK.ahead.total_seconds()
    return _json("200 OK", {"now": CLOCK.now().isoformat(), "ahead_seconds": ahead})


def _latency(query: Query, _: bytes) -> Answer:
    TRANSITIONS.scale = float(query["scale"])
    return _json("200 OK", {"scale": TRANSITIONS.scale})


def _slurm_job(query: Query, _: bytes) -> Answer:
    return _json("200 OK", {"program": recorded_program(FAULTS, query["name"])})


def _faults(_: Query, __: bytes) -> Answer:
    return _json("200 OK", FAULTS.described())


def _use_faults(query: Query, body: bytes) -> Answer:
    directory = query.get("directory")
    try:
        schedule = read_schedule(body.decode(), Path(directory) if directory else None)
    except (FaultScheduleError, UnicodeDecodeError) as error:
        return _json("400 BAD REQUEST", {"message": str(error)})
    if "add" in query:
        FAULTS.add(schedule)
    else:
        FAULTS.use(schedule)
    return _faults(query, body)


def _end_faults(query: Query, body: bytes) -> Answer:
    FAULTS.use([])
    return _faults(query, body)


def _json(status: str, content: Any) -> Answer:
    return status, [("Content-Type", "application/json")], json.dumps(content).encode()


_ENDPOINTS: Mapping[tuple[str, str], Callable[[Query, bytes], Answer]] = {
    ("GET", "health"): lambda _, __: _json("200 OK", {"status": "ready"}),
    ("GET", "identity"): _identity,
    ("GET", "clock"): _clock,
    ("POST", "clock"): _clock,
    ("POST", "latency"): _latency,
    ("GET", "faults"): _faults,
    ("POST", "faults"): _use_faults,
    ("DELETE", "faults"): _end_faults,
    ("POST", "slurm-job"): _slurm_job,
}
"""By method and name."""
