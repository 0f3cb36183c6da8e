"""Internal endpoints of the sandbox, for its other processes on this machine.

`GET /_trainyard/identity?cluster=…&arn=…&session=…`: the data with which EKS authenticates a role.
`GET /_trainyard/caller?access_key=…`: the owner of an access key. `GET /_trainyard/health`. `GET
/_trainyard/clock`: the time of the account; POST with `?advance_seconds=…` advances it. `POST
/_trainyard/latency?scale=…`: the share of AWS's time that the account takes from now on.
`/_trainyard/faults`: GET returns the schedule in force, POST sets a schedule in YAML, whose paths
start in `?directory=…`, DELETE ends it. `POST /_trainyard/slurm-job?name=…`: counts the start of a
job, and returns its recorded program, or null.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from sandbox.aws.clock import CLOCK
from sandbox.aws.identity import caller_arn, identity
from sandbox.aws.transitions import TRANSITIONS
from sandbox.faults.in_force import FAULTS
from sandbox.faults.schedule import FaultScheduleError, read_schedule
from sandbox.slurm.recorded_jobs import recorded_program

PREFIX = "/_trainyard/"

Answer = tuple[str, list[tuple[str, str]], bytes]


class InternalEndpoints:
    """Handles all paths below `PREFIX`."""

    def answer(self, environ: Mapping[str, Any], body: bytes) -> Answer:
        """Handle one request; arguments are in the query, a fault schedule is in `body`."""
        parsed = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        query = {key: values[0] for key, values in parsed.items()}
        name = environ["PATH_INFO"].removeprefix(PREFIX)
        match environ["REQUEST_METHOD"], name:
            case "GET", "health":
                return _json("200 OK", {"status": "ready"})
            case "GET", ("identity" | "caller") as wanted:
                return self._identity(query) if wanted == "identity" else _caller(query)
            case (("GET" | "POST"), "clock"):
                CLOCK.advance(timedelta(seconds=float(query.get("advance_seconds", 0))))
                ahead = CLOCK.ahead.total_seconds()
                return _json("200 OK", {"now": CLOCK.now().isoformat(), "ahead_seconds": ahead})
            case "POST", "latency":
                TRANSITIONS.scale = float(query["scale"])
                return _json("200 OK", {"scale": TRANSITIONS.scale})
            case ("GET" | "POST" | "DELETE") as method, "faults":
                return _faults(method, body, query.get("directory"))
            case "POST", "slurm-job":
                return _json("200 OK", {"program": recorded_program(FAULTS, query["name"])})
            case method, _:
                return _json("404 NOT FOUND", {"message": f"the sandbox has no {method} {name}"})

    def _identity(self, query: Mapping[str, str]) -> Answer:
        missing = [name for name in ("cluster", "arn", "session") if name not in query]
        if missing:
            return _json("400 BAD REQUEST", {"message": f"missing: {', '.join(missing)}"})
        found = identity(query["cluster"], query["arn"], query["session"])
        if found is None:
            message = f"no EKS cluster is named {query['cluster']}"
            return _json("404 NOT FOUND", {"message": message})
        return _json("200 OK", found)


def _caller(query: Mapping[str, str]) -> Answer:
    if "access_key" not in query:
        return _json("400 BAD REQUEST", {"message": "missing: access_key"})
    return _json("200 OK", {"arn": caller_arn(query["access_key"])})


def _faults(method: str, body: bytes, directory: str | None) -> Answer:
    start = Path(directory) if directory else None
    try:
        if method != "GET":
            FAULTS.use(read_schedule(body.decode(), start) if method == "POST" else [])
    except (FaultScheduleError, UnicodeDecodeError) as error:
        return _json("400 BAD REQUEST", {"message": str(error)})
    return _json("200 OK", FAULTS.described())


def _json(status: str, content: Any) -> Answer:
    return status, [("Content-Type", "application/json")], json.dumps(content).encode()
