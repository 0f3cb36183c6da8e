"""Checks of custom Slurm parameters.

https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-configuration-settings-v3.html
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from trainyard.components.catalog.parallelcluster import (
    DENIED_NODE_SETTINGS,
    DENIED_PARTITION_SETTINGS,
    DENIED_SLURM_SETTINGS,
    MANAGED_NODE_MARKS,
)
from trainyard.components.catalog.slurm_parameters import (
    Line,
    is_removed,
    is_slurm_parameter,
    listed_values,
    parameter_type,
    plugins_of,
    slurm_parameters,
    slurm_version,
)
from trainyard.components.config.parallelcluster import Slurm
from trainyard.components.config.problems import Review, nearest

_DENIED: Mapping[Line, frozenset[str]] = {
    "slurm_conf": DENIED_SLURM_SETTINGS,
    "partition": DENIED_PARTITION_SETTINGS,
    "node": DENIED_NODE_SETTINGS,
}
_PLACES: Mapping[Line, str] = {
    "slurm_conf": "`architecture.slurm.settings`",
    "partition": "`slurm_settings` of a queue",
    "node": "`slurm_settings` of a compute resource",
}
_REMOVED_PLUGINS: Mapping[str, str] = {"select/cons_res": "select/cons_tres"}
"""Successors of plugins that Slurm has removed.

https://github.com/access-ci-org/Jetstream_Cluster/issues/19: "Can't find plugin for
select/cons_res" in Slurm 23.11
"""

_EXCLUSIVE = (
    ("DefMemPerCPU", "DefMemPerNode"),
    ("MaxMemPerCPU", "MaxMemPerNode"),
    ("DenyAccounts", "AllowAccounts"),
    ("DenyQos", "AllowQos"),
)
"""Parameters that Slurm ignores if the other one is set: `src/common/read_config.c`."""

_PAIR = re.compile(r'\s*[\w.]+\s*[-*+/]?=\s*("[^"]*"|\S+)(\s|$)', re.ASCII)
"""A parameter with its value. A value with spaces is in double quotes.

https://github.com/SchedMD/slurm, `keyvalue_pattern` in `src/common/parse_config.c`
"""
_TIME = re.compile(
    r"-1|infinite|unlimited|\d+(:\d+){0,2}|\d+-\d+(:\d+){0,2}", re.ASCII | re.IGNORECASE
)
"""https://slurm.schedmd.com/slurm.conf.html, `MaxTime`; `_is_valid_timespec` in
`src/common/parse_time.c`"""
_TIME_WITH_UNITS = re.compile(
    r"(?:(\d+) ?d(?:ays?)?)? ?(?:(\d+) ?h(?:(?:ou)?rs?)?)? ?(?:(\d+) ?m(?:in(?:ute)?s?)?)?",
    re.IGNORECASE,
)
_YES, _NO = {"yes", "up", "true", "1"}, {"no", "down", "false", "0"}
"""`s_p_handle_boolean` in `src/common/parse_value.c`, lowercase; case does not matter."""
_MEANT_YES, _MEANT_NO = {"on", "y", "enabled", "enable"}, {"off", "n", "disabled", "disable"}
_LARGEST = {"uint16": 2**16 - 1, "uint32": 2**32 - 1, "uint64": 2**64 - 1}
_RANGES: Mapping[str, tuple[int, int]] = {
    "firstjobid": (1, 2**32 - 1),
    "maxarraysize": (0, 4000001),
    "maxdbdmsgs": (10000, 2**32 - 1),
    "maxjobcount": (1, 2**32 - 1),
    "maxstepcount": (1, 2**32 - 1),
    "minjobage": (2, 2**32 - 1),
    "propagateprioprocess": (0, 2),
    "schedulertimeslice": (5, 2**16 - 1),
}
"""Least and largest value of parameters, by lowercase name: `_validate_and_set_defaults` in
`src/common/read_config.c`. `MaxDBDMsgs`: `DEFAULT_MAX_DBD_MSGS` in `src/common/read_config.h`."""
_MEMORY = {"g": 2**10, "gb": 2**10, "gib": 2**10, "t": 2**20, "tb": 2**20, "tib": 2**20}
_IN_MEGABYTES = re.compile(r"(?:Def|Max)Mem|RealMemory|MemSpecLimit|TmpDisk", re.IGNORECASE)
_STRICT = frozenset(
    {
        *("accountingstorageenforce", "debugflags", "enforcepartlimits", "preemptmode"),
        *("priorityusageresetperiod", "prologflags", "propagateresourcelimits"),
        *("selecttypeparameters", "slurmctlddebug", "slurmctldsyslogdebug", "slurmddebug"),
        *("slurmdsyslogdebug", "taskpluginparam"),
    }
)
"""Parameters whose unknown values end the daemons, lowercase: `_validate_and_set_defaults`.

Those of other parameters are ignored without a word."""
_WITHOUT_EFFECT: Mapping[str, tuple[str, ...]] = {"privatedata": ("cloud",)}
"""Values that older versions knew and that ParallelCluster itself writes, by lowercase name:
https://github.com/aws/aws-parallelcluster-cookbook, `slurm.conf.erb`"""
_MOST_LISTED = 20
_OF_THE_CLUSTER = "gang"
"""A mode that Slurm ignores in a partition: `_parse_partitionname` in `read_config.c`."""
_SHORT_PLUGINS = frozenset(
    {
        *("acctgatherenergytype", "acctgatherinterconnecttype", "authalttypes"),
        *("burstbuffertype", "clifilterplugins", "hashplugin", "jobsubmitplugins", "mpidefault"),
        *("nodefeaturesplugins", "prepplugins", "taskplugin"),
    }
)
"""Parameters whose plugins need no kind before their name, lowercase: `src/interfaces`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wrong:
    """What is wrong with a value."""

    problem: str
    allowed: str
    meant: str | None
    """The value that was probably meant, if that is clear."""


def review_slurm(slurm: Slurm, review: Review) -> None:
    """Record `slurm.conf` parameters that ParallelCluster sets itself or Slurm does not know."""
    key = "architecture.slurm.settings"
    review_settings(key, slurm.settings, "slurm_conf", review)
    _review_together(key, slurm.settings, review)
    for name, value in slurm.settings.items():
        if name.lower() == "nodename" and any(mark in value for mark in MANAGED_NODE_MARKS):
            review.refuse(
                f"{key}.{name}",
                "has a node name that is reserved for nodes that ParallelCluster manages "
                "(CustomSlurmNodeNamesValidator)",
                found=value,
                allowed="a name without `-st-` and `-dy-`",
                remedy="rename the node",
            )


def review_settings(key: str, settings: Mapping[str, str], line: Line, review: Review) -> None:
    """Refuse parameters that ParallelCluster sets itself or Slurm does not know, and wrong values.

    Names are case-insensitive. Slurm ends with "Parsing error at unrecognized key", so that the
    cluster never comes up: https://github.com/SchedMD/slurm, `src/common/parse_config.c`.
    """
    first: dict[str, str] = {}
    for name, value in settings.items():
        same = first.setdefault(name.lower(), name)
        if name.lower() in _DENIED[line]:
            review.refuse(
                f"{key}.{name}",
                "is a parameter that ParallelCluster sets itself (CustomSlurmSettingsValidator)",
                found=value,
                allowed=f"any but {', '.join(sorted(_DENIED[line]))}",
                remedy=_instead(f"{key}.{name}", name, review),
            )
        elif same != name:
            review.refuse(
                f"{key}.{name}",
                f"is the same parameter as `{same}`, because Slurm ignores the case of names; it "
                "uses the last one only",
                found=value,
                allowed="each parameter once",
                remedy=review.remove_command(f"{key}.{name}"),
            )
        elif not is_slurm_parameter(name, line) or is_removed(name):
            _refuse_unknown(key, name, value, line, review)
        else:
            _review_value(f"{key}.{name}", name, value, line, review)
    _review_exclusive(key, settings, first, review)


def _review_value(path: str, name: str, value: str, line: Line, review: Review) -> None:
    wrong = _wrong(name, value, line)
    if wrong is None:
        return
    if wrong.meant is not None:
        remedy = review.set_command(path, wrong.meant)
    else:
        remedy = f"{review.remove_command(path)}, or give one of the allowed values"
    review.refuse(path, wrong.problem, found=value, allowed=wrong.allowed, remedy=remedy)


def _review_exclusive(
    key: str, settings: Mapping[str, str], given: Mapping[str, str], review: Review
) -> None:
    for ignored, other in _EXCLUSIVE:
        name = given.get(ignored.lower())
        if name and other.lower() in given:
            review.refuse(
                f"{key}.{name}",
                f"is ignored by Slurm, because `{given[other.lower()]}` is set too",
                found=settings[name],
                allowed=f"one of {ignored} and {other}",
                remedy=review.remove_command(f"{key}.{name}"),
            )


def _review_together(key: str, settings: Mapping[str, str], review: Review) -> None:
    """Refuse parameters of the cluster without another one that they need.

    `_validate_and_set_defaults` in `src/common/read_config.c` of Slurm.
    """
    given = {name.lower(): _meant(name, value) for name, value in settings.items()}
    modes = {each.strip().lower() for each in given.get("preemptmode", "off").split(",")}
    preempts = not modes <= {"off", "cluster", "gang", "priority", "within"}
    by = given.get("preempttype", "preempt/none")
    needs = (
        ("PreemptMode", preempts and by == "preempt/none", "PreemptType", "preempt/partition_prio"),
        ("PreemptType", not preempts and by != "preempt/none", "PreemptMode", "REQUEUE"),
        (
            "SlurmSchedLogLevel",
            given.get("slurmschedloglevel", "0") != "0" and "slurmschedlogfile" not in given,
            "SlurmSchedLogFile",
            "/var/log/slurmsched.log",
        ),
        (
            "MCSParameters",
            "mcsparameters" in given and "mcsplugin" not in given,
            "MCSPlugin",
            "mcs/account",
        ),
        (
            "NamespaceType",
            not given.get("namespacetype", "none").endswith("none")
            and not {"contain", "x11"} & {*given.get("prologflags", "").lower().split(",")},
            "PrologFlags",
            ",".join([*filter(None, [given.get("prologflags")]), "Contain"]),
        ),
    )
    for name, is_missing, needed, value in needs:
        if is_missing:
            found = next((each for each in settings if each.lower() == needed.lower()), needed)
            review.refuse(
                f"{key}.{found}",
                f"is not what `{name}` needs, so the controller of Slurm does not start",
                found=settings.get(found),
                allowed=f"for example {value}",
                remedy=f"{review.set_command(f'{key}.{found}', value)}; or remove `{name}`",
            )


def _meant(name: str, value: str) -> str:
    known = is_slurm_parameter(name, "slurm_conf")
    wrong = _wrong(name, value, "slurm_conf") if known else None
    return (wrong.meant if wrong else None) or value


def _wrong(name: str, value: str, line: Line) -> _Wrong | None:
    """Return what is wrong with a value of a parameter that Slurm knows; None if nothing is."""
    kind = parameter_type(name, line)
    text = value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
    if kind == "boolean":
        return _wrong_boolean(text)
    if kind == "time":
        return _wrong_time(text)
    listed = listed_values(name, line)
    if kind in _LARGEST and not listed:
        return _wrong_number(name, text, kind)
    plugins = plugins_of(name) if line == "slurm_conf" else ()
    if plugins:
        return _wrong_plugin(name, text, plugins)
    if listed and not (name.lower().endswith("debug") and text.isdecimal()):
        return _wrong_list(name, text, listed, line)
    return _wrong_spaces(name, value)


def _wrong_spaces(name: str, value: str) -> _Wrong | None:
    if not _PAIR.sub("", f"{name}={value}").strip():
        return None
    joined = re.sub(r"\s*,\s*", ",", value.strip())
    return _Wrong(
        problem="is a value that Slurm does not read to its end, so its daemons do not start",
        allowed="a value without spaces, or one in double quotes",
        meant=joined if joined and not re.search(r'\s|"', joined) else None,
    )


def _wrong_boolean(value: str) -> _Wrong | None:
    lower = value.lower()
    if lower in _YES | _NO:
        return None
    meant = nearest(value, ("YES", "NO"))
    meant = "YES" if lower in _MEANT_YES else "NO" if lower in _MEANT_NO else meant
    problem = f"is neither YES nor NO, so the daemons of Slurm do not start{_nearest(meant)}"
    return _Wrong(problem=problem, allowed="YES, NO", meant=meant)


def _wrong_time(value: str) -> _Wrong | None:
    if _TIME.fullmatch(value):
        return None
    units = _TIME_WITH_UNITS.fullmatch(value.strip()) if value.strip() else None
    days, hours, minutes = (int(each or 0) for each in units.groups()) if units else (0, 0, 0)
    near = nearest(value, ("UNLIMITED", "INFINITE"))
    return _Wrong(
        problem="is not a time limit that Slurm reads, so its controller does not start",
        allowed="minutes, `hours:minutes:seconds`, `days-hours:minutes:seconds` or UNLIMITED",
        meant=f"{days}-{hours:02}:{minutes:02}:00" if units else near,
    )


def _wrong_number(name: str, value: str, kind: str) -> _Wrong | None:
    """Return what is wrong with a whole number: `s_p_handle_uint16` and those of other sizes."""
    least, largest = _RANGES.get(name.lower(), (0, _LARGEST[kind]))
    allowed = f"a whole number from {least} to {largest}"
    if value.lower() in {"infinite", "unlimited"}:
        return None
    factor = "" if kind == "uint16" else "[kK]?"
    if re.fullmatch(rf"(0|[1-9]\d*|0x[\da-fA-F]+){factor}", value, re.ASCII):
        number = int(value.rstrip("kK"), 0) * (1024 if value[-1] in "kK" else 1)
        if least <= number <= largest:
            return None
        problem = f"is not from {least} to {largest}, so Slurm does not use it or does not start"
        bound = str(least if number < least else largest)
        return _Wrong(problem=problem, allowed=allowed, meant=bound if least else None)
    return _Wrong(
        problem="is not a whole number, so the daemons of Slurm do not start"
        + (": a leading 0 makes it an octal number" if re.fullmatch(r"0\d+", value) else ""),
        allowed=allowed,
        meant=_number_in(name, value, least, largest),
    )


def _number_in(name: str, value: str, least: int, largest: int) -> str | None:
    found = re.fullmatch(r"0*(\d+)(?:\.0+)?\s*([A-Za-z]*)", value.strip(), re.ASCII)
    if found is None:
        return nearest(value, ("UNLIMITED",))
    number, unit = int(found[1]), found[2].lower()
    if unit in _MEMORY and _IN_MEGABYTES.match(name):
        number *= _MEMORY[unit]
    elif unit not in {"", "s", "sec", "secs", "seconds", "second", "m", "mb", "mib"}:
        return None
    return str(number) if least <= number <= largest else None


def _wrong_plugin(name: str, value: str, plugins: tuple[str, ...]) -> _Wrong | None:
    kind = plugins[0].partition("/")[0]
    short = {each.partition("/")[2]: each for each in plugins}
    own = {*plugins, *short} if name.lower() in _SHORT_PLUGINS else {*plugins}
    if f"{kind}/none" in plugins:
        own.add("none")
    items = [each.split(":")[0].strip() for each in value.split(",")]
    unknown = [each for each in items if each not in own and each.lower() != "none"]
    if not unknown:
        return _wrong_spaces(name, value)
    found = {each: _plugin_of(each, kind, short) for each in unknown}
    meant = ",".join(found.get(each) or each for each in items) if all(found.values()) else None
    problem = f"is a plugin that Slurm {slurm_version()} does not have, so it does not start"
    allowed = ", ".join(plugins)
    return _Wrong(problem=f"{problem}{_nearest(meant)}", allowed=allowed, meant=meant)


def _plugin_of(item: str, kind: str, short: Mapping[str, str]) -> str | None:
    successor = _REMOVED_PLUGINS.get(item.lower())
    meant = nearest(item.rpartition("/")[2], tuple(short))
    return successor or (short[meant] if meant else nearest(item, tuple(short.values())))


def _wrong_list(name: str, value: str, listed: tuple[str, ...], line: Line) -> _Wrong | None:
    known = {each.partition("=")[0].lower(): each for each in listed}
    known.update({each.lower(): each for each in _WITHOUT_EFFECT.get(name.lower(), ())})
    if line == "partition":
        known.pop(_OF_THE_CLUSTER, None)
    items = [each.strip() for each in value.split(",") if each.strip()]
    wrong = {each: _item_meant(each, known) for each in items if not _is_item(each, known)}
    if not wrong:
        return _wrong_spaces(name, value) or _wrong_preemption(name, items, line)
    clear = all(wrong.values())
    every = [wrong.get(each) if each in wrong else each for each in items]
    kept = list(filter(None, every))
    together = _wrong_preemption(name, kept, line)
    meant = together.meant if together else ",".join(kept) or None
    said = ", ".join(f"`{each}`" for each in wrong)
    fatal = "does not start with" if name.lower() in _STRICT else "ignores"
    hint = _nearest(meant) if clear else ""
    problem = f"has {said}, which Slurm {slurm_version()} does not know here and {fatal}{hint}"
    return _Wrong(problem=problem, allowed=_options(name, known.values()), meant=meant)


def _wrong_preemption(name: str, items: list[str], line: Line) -> _Wrong | None:
    modes = {each.lower() for each in items}
    if name.lower() != "preemptmode" or line != "slurm_conf" or "gang" in modes:
        return None
    if not modes & {"suspend", "on"}:
        return None
    return _Wrong(
        problem="is SUSPEND without GANG, so the controller of Slurm does not start",
        allowed="SUSPEND,GANG, REQUEUE, CANCEL, OFF",
        meant=",".join([*items, "GANG"]),
    )


def _options(name: str, listed: Collection[str]) -> str:
    if len(listed) > _MOST_LISTED:
        return f"an option of https://slurm.schedmd.com/slurm.conf.html#OPT_{name}"
    return ", ".join(each.replace("=#", "=NUMBER") for each in listed)


def _is_item(item: str, known: Mapping[str, str]) -> bool:
    name, equals, value = item.partition("=")
    option = known.get(name.lower())
    if option is None or (not equals and option.endswith(("=#", "="))):
        return False
    if option.endswith("=#"):
        return bool(re.fullmatch(r"-?\d+", value, re.ASCII) or _TIME.fullmatch(value))
    return True


def _item_meant(item: str, known: Mapping[str, str]) -> str | None:
    name, equals, value = item.partition("=")
    meant = known.get(name.lower()) or nearest(
        name, [each.partition("=")[0] for each in known.values()]
    )
    if meant is None:
        return None
    option = known[meant.partition("=")[0].lower()]
    candidate = f"{option.partition('=')[0]}{equals}{value}"
    if not _is_item(candidate, known):
        number = re.match(r"\d+", value, re.ASCII)
        candidate = f"{option.partition('=')[0]}={number[0]}" if number else ""
    return candidate or None


def _nearest(meant: str | None) -> str:
    return f"; the nearest is `{meant}`" if meant else ""


def _instead(path: str, name: str, review: Review) -> str:
    remove = review.remove_command(path)
    instead = _INSTEAD.get(name.lower())
    return f"{remove}; {instead}" if instead else remove


def _refuse_unknown(key: str, name: str, value: str, line: Line, review: Review) -> None:
    remove = review.remove_command(f"{key}.{name}")
    others: list[Line] = [other for other in _PLACES if is_slurm_parameter(name, other)]
    meant = nearest(name, slurm_parameters(line))
    if others:
        problem = f"; it belongs to {_PLACES[others[0]]}"
        remedy = f"{remove}, and set it in {_PLACES[others[0]]}"
    elif meant:
        problem, remedy = f"; the nearest is `{meant}`", f"rename it to `{meant}`, or: {remove}"
    else:
        problem, remedy = "", remove
    review.refuse(
        f"{key}.{name}",
        f"is not a parameter that Slurm {slurm_version()} knows here, so its daemons do not "
        f"start{problem}",
        found=value,
        allowed="a parameter of https://slurm.schedmd.com/slurm.conf.html",
        remedy=remedy,
    )


_INSTEAD = {
    "oversubscribe": "with `exclusive_jobs: true`, each job has its own nodes",
    "suspendtime": "set `architecture.slurm.idle_minutes`",
    "prolog": "add a script to /opt/slurm/etc/scripts/prolog.d with `custom_actions`",
    "epilog": "add a script to /opt/slurm/etc/scripts/epilog.d with `custom_actions`",
    "cpus": "set `simultaneous_multithreading`",
}
"""Alternative to a parameter, by its lowercase name."""
