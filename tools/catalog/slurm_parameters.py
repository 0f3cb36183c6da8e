"""Generate `components/catalog/data/slurm_parameters.json` from the source of Slurm.

Run `python -m tools.catalog.slurm_parameters DIRECTORY VERSION`. DIRECTORY is a checkout of
https://github.com/SchedMD/slurm at the Slurm version in the pinned ParallelCluster, which the
release notes name: https://github.com/aws/aws-parallelcluster/releases

Types are those of the tables of the parser in `src/common/read_config.c`. Values are those of
`doc/man/man5/slurm.conf.5`, and those that the code compares with, because the manual does not
list all of them. Plugins are the folders in `src/plugins`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DATA_FILE = Path(__file__).parents[2] / "components" / "catalog" / "data" / "slurm_parameters.json"
TABLES = {
    "slurm_conf": "slurm_conf_options",
    "partition": "_partition_options",
    "node": "_nodename_options",
}
"""Table of the parser in C, by what it parses."""
SECTIONS = {"PARAMETERS": "slurm_conf", "PARTITION CONFIGURATION": "partition"}
"""Sections of the manual whose parameters have lists of values."""
OPEN = frozenset(
    {
        *("CpuFreqDef", "GpuFreqDef", "JobCompPassScript", "MailProg", "SwitchParameters"),
        *("TaskProlog", "PrologSlurmctld", "EpilogSlurmctld"),
    }
)
"""Parameters whose list in the manual is not a list of all values: of variables, of examples, or
of placeholders such as `def_<rsrc>`."""
FAMILIES = {
    "AuthAltTypes": "auth",
    "JobSubmitPlugins": "job_submit",
    "MpiDefault": "mpi",
    "PrEpPlugins": "prep",
}
"""Kinds of plugins of the parameters for which the manual shows no plugin with its kind."""

_ENTRY = re.compile(r'^\s*\{\s*"(\w+)"\s*,\s*S_P_(\w+)', re.MULTILINE)
_READ = re.compile(r's_p_get_string\(\s*&(conf->)?(\w+),\s*"(\w+)"')
_COMPARED = r'xstrn?(?:case)?(?:cmp|str)\(\s*{name},\s*"(\w[\w/]*)(=?)"'
_FUNCTION = re.compile(r"^(?:extern|static) [^;{}()]*?\b(\w+)\([^;{}]*?\)\n\{(.*?)^\}", re.M | re.S)
_REMOVED = re.compile(r'fatal\("(?:The )?(\w+) (?:option )?has been removed')
_HEAD = re.compile(r"\w[\w/]*(=.*)?")


def parameters(source: str) -> dict[str, dict[str, str]]:
    """Return the type of each parameter that Slurm parses in each kind of line, sorted.

    Raises:
        ValueError: the source has no such table.
    """
    times = {found for found, body in _blocks(source) if "time_str2" in body}
    return {kind: _types(source, table, times) for kind, table in TABLES.items()}


def _types(source: str, table: str, times: set[str]) -> dict[str, str]:
    begin = re.search(rf"s_p_options_t {table}\[\] = \{{", source)
    if begin is None:
        raise ValueError(f"there is no table {table} in the source")
    body = source[begin.end() :].partition("{NULL}")[0]
    found = sorted(_ENTRY.findall(body), key=lambda each: each[0].lower())
    return {name: "time" if name in times else kind.lower() for name, kind in found}


def _blocks(source: str) -> Iterator[tuple[str, str]]:
    """Yield each parameter that the code reads as a text, with what it does with it."""
    for read in _READ.finditer(source):
        if not read[1]:
            freed = re.search(rf"xfree\({read[2]}\)", source[read.end() :])
            if freed:
                yield read[3], source[read.end() :][: freed.start()]


def removed(source: str) -> list[str]:
    """Return the parameters with which the daemons end because Slurm has removed them."""
    return sorted(set(_REMOVED.findall(source)))


def documented(manual: str) -> dict[str, dict[str, list[str]]]:
    """Return the values that the manual lists, by the kind of line and the parameter."""
    found: dict[str, dict[str, list[str]]] = {kind: {} for kind in TABLES}
    section, parameter, depth = "", "", 0
    lines = iter(manual.splitlines())
    for line in lines:
        if line.startswith(".SH"):
            section = line.removeprefix(".SH").strip(' "')
        depth += line.startswith(".RS") - line.startswith(".RE")
        if not line.startswith(".TP") or section not in SECTIONS:
            continue
        text = next((each for each in lines if not re.match(r"\.|\s*$", each)), "")
        plain = re.sub(r"\\f[A-Z]|\\", "", text)
        if depth == 0:
            parameter = plain.partition("=")[0].partition(" ")[0]
        elif depth == 1 and not plain.endswith((":", ".")) and ": " not in plain:
            found[SECTIONS[section]].setdefault(parameter, []).append(plain.partition(" ")[0])
    return found


def compared(directory: Path) -> dict[str, set[str]]:
    """Return the words that the code compares with the value of each parameter."""
    config = (directory / "src/common/read_config.c").read_text("utf-8")
    every = "".join(path.read_text("utf-8") for path in sorted(directory.glob("src/**/*.c")))
    common = "".join(path.read_text("utf-8") for path in directory.glob("src/common/*.c"))
    bodies = {found[1]: found[2] for found in _FUNCTION.finditer(common)}
    words: dict[str, set[str]] = defaultdict(set)
    for name, block in _blocks(config):
        called = [bodies[each] for each in re.findall(r"(\w+)\(\w+[,)]", block) if each in bodies]
        words[name].update(_words("".join([block, *called]), r"\w+"))
    for read in _READ.finditer(config):
        if read[1]:
            words[read[3]].update(_words(every, rf"(?:slurm_conf\.|conf->)?{read[2]}"))
    return words


def _words(source: str, name: str) -> Iterator[str]:
    for word, equals in re.findall(_COMPARED.format(name=name), source):
        yield f"{word}{equals}"


def values(directory: Path, known: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the values of each parameter for which the manual has a list, without plugins.

    `name=` takes a value, and `name=#` a number.
    """
    words = compared(directory)
    lists = documented((directory / "doc/man/man5/slurm.conf.5").read_text("utf-8"))
    found: dict[str, dict[str, list[str]]] = {}
    for kind, by_name in lists.items():
        found[kind] = {
            name: _merged(items, words.get(name, set()))
            for name, items in sorted(by_name.items())
            if name in known[kind] and _is_list(name, items)
        }
    return found


def _is_list(name: str, items: list[str]) -> bool:
    if name in OPEN or name in FAMILIES or any("/" in item for item in items):
        return False
    return all(map(_HEAD.fullmatch, items))


def _merged(items: list[str], words: set[str]) -> list[str]:
    merged = {_name(item).lower(): item for item in items}
    for word in sorted(each for each in words if "/" not in each):
        merged.setdefault(_name(word).lower(), word)
    return [re.sub(r"=(?!#$).*", "=", item) for item in merged.values()]


def _name(item: str) -> str:
    return item.partition("=")[0]


def plugins(directory: Path, known: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the plugins of each parameter that names one, from the manual and the source."""
    lists = documented((directory / "doc/man/man5/slurm.conf.5").read_text("utf-8"))["slurm_conf"]
    words = compared(directory)
    found: dict[str, list[str]] = {}
    for name in sorted(known):
        items = lists.get(name, [])
        families = {item.partition("/")[0] for item in items if "/" in item}
        family = FAMILIES.get(name) or (families.pop() if len(families) == 1 else None)
        if family is None:
            continue
        folders = [path for path in (directory / "src/plugins" / family).glob("*") if path.is_dir()]
        own = {f"{family}/{path.name}" for path in folders if not path.name.startswith("common")}
        code = words.get(name, set())
        own.update(f"{family}/{word}" for word in code & {"none", "openmpi"})
        own.update(word for word in code if word.startswith(f"{family}/"))
        found[name] = sorted({*(item for item in items if "/" in item), *own})
    return found


def main(directory: str, version: str) -> None:
    """Write the file."""
    root = Path(directory)
    source = (root / "src/common/read_config.c").read_text(encoding="utf-8")
    known = parameters(source)
    data = {
        "slurm": version,
        **known,
        "removed": removed(source),
        "values": values(root, known),
        "plugins": plugins(root, known["slurm_conf"]),
    }
    DATA_FILE.write_text(f"{json.dumps(data, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
