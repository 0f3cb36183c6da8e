"""The generated documents and their content."""

from __future__ import annotations

from collections.abc import Mapping

from tools.schema.reference import reference
from tools.schema.stack_schema import stack_schema_text


def documents() -> Mapping[str, str]:
    """Return the content of every generated document, by path from the repository root."""
    return {
        "docs/schema/stack.schema.json": stack_schema_text(),
        "docs/config.md": reference(),
    }
