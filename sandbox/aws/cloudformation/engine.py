"""Run ministack: `python -m sandbox.aws.cloudformation.engine`, in ministack's environment.

Its settings are environment variables (see `sandbox.aws.cloudformation.service`). Relevant
differences from AWS are corrected before it serves:

- capabilities are required, which ministack otherwise does only if it checks signatures;
- a template URL refers to the sandbox's S3 or to ParallelCluster's releases;
- a nested stack is described with its parent;
- no local scripts run at the start, and no container engine is used.
"""

from __future__ import annotations

import os
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from sandbox.aws.cloudformation.checks import template_fault
from sandbox.aws.cloudformation.templates import TemplateUrlError, sandbox_object, template_at

STAND_IN = Path(__file__).parents[2] / "parallelcluster" / "provider" / "template.yaml"
"""The replacement for ParallelCluster's official provider template."""


def main() -> None:
    """Serve until killed."""
    app: Any = import_module("ministack.app")
    app._run_init_scripts = lambda: None  # noqa: SLF001 - see above
    _require_capabilities()
    _resolve_urls()
    _check_templates()
    _describe_parents()
    app.main()


def _require_capabilities() -> None:
    handlers: Any = import_module("ministack.services.cloudformation.handlers")
    handlers._capabilities_enforced = lambda: True  # noqa: SLF001 - see above


def _resolve_urls() -> None:
    helpers: Any = import_module("ministack.services.cloudformation.helpers")
    theirs = helpers._resolve_document  # noqa: SLF001
    read_object = sandbox_object(os.environ["AWS_ENDPOINT_URL"], os.environ["MINISTACK_REGION"])
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
