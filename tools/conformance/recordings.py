"""Recordings on disk: one complete recording, and the changes of every variant.

A change is a JSON merge patch (RFC 7396): a value replaces, `null` removes. A combination of
variants is the sum of their changes. If the component behaves differently for a combination, the
recording has an additional change for it, under the names joined with `+`.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

Values = dict[str, Any]
Case = tuple[str, ...]


def compact(recorded: Mapping[Case, Values]) -> Values:
    """Return the recordings as the complete one of `()` and the changes of the others."""
    kept: Values = {"base": recorded[()], "variants": {}}
    for case in sorted(recorded, key=len):
        change = difference(expanded(kept, case), recorded[case])
        if change:
            kept["variants"]["+".join(case)] = change
        elif len(case) == 1:
            kept["variants"][case[0]] = {}
    return kept


def expanded(kept: Mapping[str, Any], case: Case) -> Values:
    """Return the complete recording of a case."""
    whole = copy.deepcopy(kept["base"])
    for parts in _parts(case):
        change = kept["variants"].get("+".join(parts))
        if change:
            whole = merged(whole, change)
    return whole


def _parts(case: Case) -> Iterable[Case]:
    """Yield each subset of the variants of a case, smaller ones first."""
    subsets: list[Case] = [()]
    for variant in case:
        subsets += [(*subset, variant) for subset in subsets]
    return sorted(subsets[1:], key=len)


def difference(old: Any, new: Any) -> Values:
    """Return the merge patch from `old` to `new`."""
    changes = {key: _change(old[key], new[key]) for key in old.keys() & new.keys()}
    return {
        **dict.fromkeys(old.keys() - new.keys()),
        **{key: new[key] for key in new.keys() - old.keys()},
        **{key: change for key, change in changes.items() if old[key] != new[key]},
    }


def _change(old: Any, new: Any) -> Any:
    both = isinstance(old, dict) and isinstance(new, dict)
    return difference(old, new) if both else new


def merged(old: Any, change: Any) -> Any:
    """Return a value with a merge patch applied."""
    if not isinstance(change, dict):
        return change
    whole = dict(old) if isinstance(old, dict) else {}
    for key, value in change.items():
        if value is None:
            whole.pop(key, None)
        else:
            whole[key] = merged(whole.get(key), value)
    return whole


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def text_of(header: str, recordings: Mapping[str, Any]) -> str:
    """Return the text of a recordings file, with a header comment."""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in header.splitlines())
    return comment + yaml.dump(dict(recordings), Dumper=_Dumper, width=100, sort_keys=True)


def read(path: Path) -> Values:
    """Return the recordings of a file."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def shown_difference(old: str, new: str, path: str) -> str:
    """Return the differing lines in the format of `diff -u`."""
    lines = (old.splitlines(keepends=True), new.splitlines(keepends=True))
    return "".join(difflib.unified_diff(*lines, f"{path} (recorded)", f"{path} (plugin)"))
