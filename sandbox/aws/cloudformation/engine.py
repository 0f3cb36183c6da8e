"""Run ministack, as a program in its own environment.

Its settings are environment variables (see `trainyard.sandbox.aws.cloudformation.service`).
Relevant differences from AWS are corrected before it serves:

- capabilities are required, which ministack otherwise does only if it checks signatures;
- a template URL refers to the sandbox's S3 or to ParallelCluster's releases;
- a nested stack is described with its parent;
- no local scripts run at the start, and no container engine is used;
- functions have the sandbox's access key;
- only requests with the sandbox's access key are handled (`trainyard.sandbox.access`), because
  Lambda runs any program. A function responds to CloudFormation without it, at an address with a
  random token.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Awaitable, Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from trainyard.sandbox.access import HEADER, KEY_VARIABLE, Endpoint
from trainyard.sandbox.aws.cloudformation.templates import (
    TemplateUrlError,
    sandbox_object,
    template_at,
    template_fault,
)

STAND_IN = Path(__file__).parents[2] / "parallelcluster" / "provider" / "template.yaml"
"""The replacement for ParallelCluster's official provider template."""

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
"""https://asgi.readthedocs.io/en/stable/specs/main.html#applications"""
_RESPONSES = "/_ministack/cfn-response/"
"""Path of the `ResponseURL` of a custom resource; then its token, a random UUID."""


def main() -> None:
    """Serve until killed."""
    app: Any = import_module("ministack.app")
    app._run_init_scripts = lambda: None  # noqa: SLF001 - see above
    _require_capabilities()
    _resolve_urls()
    _check_templates()
    _describe_parents()
    _let_functions_call_the_account()
    app.app = guarded(app.app, os.environ[KEY_VARIABLE])
    app.main()


def _let_functions_call_the_account() -> None:
    # ministack gives a function the id of its account as access key.
    account = Endpoint(os.environ["AWS_ENDPOINT_URL"], os.environ[KEY_VARIABLE])
    credentials = {
        "AWS_ACCESS_KEY_ID": account.environment["AWS_ACCESS_KEY_ID"],
        "AWS_SECRET_ACCESS_KEY": account.environment["AWS_SECRET_ACCESS_KEY"],
        "AWS_SESSION_TOKEN": "",
    }
    for name in ("core.lambda_runtime", "services.lambda_svc"):
        module: Any = import_module(f"ministack.{name}")
        module.execution_credentials = lambda _config: credentials


def guarded(app: Application, key: str) -> Application:
    """Return an ASGI application that handles only requests with the access key."""
    header, expected = HEADER.lower().encode(), key.encode()

    async def guard(scope: dict[str, Any], receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ())).get(header, b"")
        is_response = scope.get("method") == "PUT" and scope["path"].startswith(_RESPONSES)
        if scope["type"] == "lifespan" or is_response or hmac.compare_digest(given, expected):
            await app(scope, receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 403, "headers": []})
            await send({"type": "http.response.body", "body": b"no access key of the sandbox"})
        else:
            await send({"type": "websocket.close", "code": 1008})

    return guard


def _require_capabilities() -> None:
    handlers: Any = import_module("ministack.services.cloudformation.handlers")
    handlers._capabilities_enforced = lambda: True  # noqa: SLF001 - see above


def _resolve_urls() -> None:
    helpers: Any = import_module("ministack.services.cloudformation.helpers")
    theirs = helpers._resolve_document  # noqa: SLF001
    account = Endpoint(os.environ["AWS_ENDPOINT_URL"], os.environ[KEY_VARIABLE])
    read_object = sandbox_object(account, os.environ["MINISTACK_REGION"])
    version = metadata.version("aws-parallelcluster")

    def resolve(params: Any, body_key: str, url_key: str, label: str) -> tuple[str | None, Any]:
        url = helpers._p(params, url_key)  # noqa: SLF001
        if not url or helpers._p(params, body_key):  # noqa: SLF001
            return theirs(params, body_key, url_key, label)
        try:
            return template_at(url, read_object, STAND_IN, version), None
        except TemplateUrlError as error:
            return None, helpers._error("ValidationError", str(error))  # noqa: SLF001

    helpers._resolve_document = resolve  # noqa: SLF001 - see above


def _check_templates() -> None:
    for name in ("handlers", "changesets"):
        module: Any = import_module(f"ministack.services.cloudformation.{name}")
        theirs = module._parse_template  # noqa: SLF001

        def parse(body: str, theirs: Any = theirs) -> Any:
            template = theirs(body)
            fault = template_fault(template)
            if fault:
                raise ValueError(fault)
            return template

        module._parse_template = parse  # noqa: SLF001 - see above


def _describe_parents() -> None:
    service: Any = import_module("ministack.services.cloudformation")
    handlers: Any = import_module("ministack.services.cloudformation.handlers")
    theirs = handlers._ACTION_HANDLERS["DescribeStacks"]  # noqa: SLF001

    def describe(params: Any) -> Any:
        status, headers, body = theirs(params)
        text = body.decode() if isinstance(body, bytes) else body
        for stack in list(service._stacks.values()):  # noqa: SLF001
            own, parent = stack["StackId"], stack.get("ParentId")
            if parent:
                more = f"<ParentId>{parent}</ParentId><RootId>{stack['RootId']}</RootId>"
                text = text.replace(f"<StackId>{own}</StackId>", f"<StackId>{own}</StackId>{more}")
        return status, headers, text.encode()

    handlers._ACTION_HANDLERS["DescribeStacks"] = describe  # noqa: SLF001 - see above


if __name__ == "__main__":
    main()
