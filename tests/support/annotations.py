"""Types of the schema's fields, from their annotations."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin


def unwrapped(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the type in an annotation, and the metadata of each `Annotated`, inmost first."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        plain, deeper = unwrapped(inner)
        return plain, (*deeper, *metadata)
    return annotation, ()
