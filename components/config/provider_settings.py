"""The settings of the providers in a stack file, outside `trainyard:cluster`.

`ProviderSettings` is what the engine does with the keys of `aws`; `components.account.session`
makes every boto3 session from it. `PROVIDER_KEYS` says which keys are honoured, and what to do
instead of the others.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from trainyard.components.catalog.provider_keys import (
    AWS_KEYS,
    ENDPOINTS_OF,
    PROVIDER_KEYS,
    ProviderKey,
    Support,
    endpoint_keys,
)
from trainyard.components.catalog.regions import can_be_region, known_regions, nearest_region
from trainyard.components.config.problems import (
    ROOT,
    Problem,
    example_of,
    nearest,
    remove_command,
    set_command,
)
from trainyard.components.look_alikes import odd_characters, plain_characters
from trainyard.components.plain_text import printable

REGION_KEY = "aws:region"
PROFILE_KEY = "aws:profile"
ROLES_KEY = "aws:assumeRoles"
ALLOWED_KEY = "aws:allowedAccountIds"
FORBIDDEN_KEY = "aws:forbiddenAccountIds"
ENDPOINTS_KEY = "aws:endpoints"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssumedRole:
    """An entry of `aws:assumeRoles`: the arguments of one call of AssumeRole.

    https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
    """

    role_arn: str
    session_name: str = ""
    external_id: str = ""
    duration_seconds: int = 0
    """0 for the default of STS, an hour."""
    policy: str = ""
    policy_arns: tuple[str, ...] = ()
    source_identity: str = ""
    tags: tuple[tuple[str, str], ...] = ()
    transitive_tag_keys: tuple[str, ...] = ()

    @property
    def account_id(self) -> str:
        """The account of the role."""
        return self.role_arn.split(":")[4]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """What the engine and every call of trainyard use to reach the account of a stack."""

    region: str = ""
    """Region of the stack, to which `endpoints` belong; empty without a stack."""
    profile: str = ""
    """The AWS profile; empty for the credentials of the environment."""
    roles: tuple[AssumedRole, ...] = ()
    """Roles that are assumed one after the other."""
    allowed_account_ids: tuple[str, ...] = ()
    """The only accounts that may be used; empty for all."""
    forbidden_account_ids: tuple[str, ...] = ()
    endpoints: tuple[tuple[str, str], ...] = ()
    """Address by the boto3 name of a service."""
    sts_region: str = ""
    use_path_style: bool = False
    use_dual_stack: bool = False
    use_fips: bool = False
    stack_file: str = field(default="the stack file", compare=False, repr=False)
    """Name of the file, for messages."""
    problems: tuple[Problem, ...] = field(default=(), compare=False, repr=False)
    """Why the settings cannot be used; nothing is asked of the account as long as there are any."""

    @property
    def is_guarded(self) -> bool:
        """Whether AWS is called before anything else, to assume roles or to compare accounts."""
        return bool(self.roles or self.allowed_account_ids or self.forbidden_account_ids)


OF_ENVIRONMENT = ProviderSettings()
"""Those of a command without a stack: the credentials of the environment."""


def provider_settings(config: Mapping[str, Any], *, stack_file: str) -> ProviderSettings:
    """Return the settings in the configuration of a stack, with all their problems.

    Args:
        config: Values by key with its namespace, from YAML or, as text, from the engine.
        stack_file: Name of the stack file, for messages.
    """
    read = _Reading(stack_file)
    for key, value in config.items():
        read.key(str(key), value)
    given = {key: _parsed(config.get(f"aws:{key}")) for key in AWS_KEYS}
    region, profile = given["region"], given["profile"]
    settings = ProviderSettings(
        region=region if is_region(region) else "",
        profile=profile if isinstance(profile, str) else "",
        roles=read.roles(given["assumeRoles"]),
        allowed_account_ids=read.accounts(ALLOWED_KEY, given["allowedAccountIds"]),
        forbidden_account_ids=read.accounts(FORBIDDEN_KEY, given["forbiddenAccountIds"]),
        endpoints=read.endpoints(given["endpoints"]),
        sts_region=read.sts_region(given["stsRegion"]),
        use_path_style=read.switch("s3UsePathStyle", given),
        use_dual_stack=read.switch("useDualstackEndpoint", given),
        use_fips=read.switch("useFipsEndpoint", given),
        stack_file=stack_file,
    )
    read.fit(settings)
    return replace(settings, problems=tuple(read.problems))


def provider_problems(config: Mapping[str, Any], *, stack_file: str) -> list[Problem]:
    """Return the problems of the providers' settings in a stack file, region and profile first."""
    found = [
        _region_problem(config.get(REGION_KEY), stack_file),
        _profile_problem(config.get(PROFILE_KEY), stack_file),
    ]
    settings = provider_settings(config, stack_file=stack_file)
    return [*(problem for problem in found if problem), *settings.problems]


def token_problems(settings: ProviderSettings, *, stack_file: str) -> list[Problem]:
    """Return why the kubeconfig of an EKS cluster cannot assume the roles of a stack.

    It runs `aws eks get-token --role-arn ROLE`, which assumes one role and has no option for an
    external id: https://docs.aws.amazon.com/cli/latest/reference/eks/get-token.html
    """
    roles = settings.roles
    if len(roles) < 2 and not any(role.external_id for role in roles):
        return []
    why = "an external id" if len(roles) == 1 else "several roles one after the other"
    return [
        Problem(
            path=ROLES_KEY,
            problem=(
                f"has {why}, with which kubectl and the engine cannot log in to an EKS cluster: "
                "its kubeconfig runs `aws eks get-token`, which assumes one role without one"
            ),
            allowed="one role without externalId, or a profile",
            remedy=(
                "write the roles as profiles into ~/.aws/config (role_arn, external_id and "
                f"source_profile), set `{PROFILE_KEY}` to the last one, and remove `{ROLES_KEY}`"
            ),
        )
    ]


def is_region(region: object) -> bool:
    """Return whether a value is the name of a region, known or possibly new."""
    return isinstance(region, str) and can_be_region(region)


def _parsed(value: Any) -> Any:
    """Return a value of the configuration; the engine hands on objects and lists as JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _remove(path: str, stack_file: str) -> str:
    # Keys of a provider have no parts, and are removed without `--path`.
    return remove_command(path, stack_file=stack_file).replace(" --path", "")


_NEAR_NAMESPACE = 0.6
_OTHER_PACKAGES = frozenset({"awsx", "pulumi"})
"""Namespaces that are near to one of the program and mean another package."""
_ACCOUNT_ID = re.compile(r"\d{12}")
_ROLE_ARN = re.compile(r"arn:[a-z-]+:iam::\d{12}:role/\S+")
_NAME = re.compile(r"[\w+=,.@-]{2,64}", re.ASCII)
_EXTERNAL_ID = re.compile(r"[\w+=,.@:/-]{2,1224}", re.ASCII)
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_SHORTEST, _LONGEST, _LONGEST_IN_CHAIN = 900, 43200, 3600
"""Seconds of a session, and of one whose role was assumed with the session of another role:
https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles.html#iam-term-role-chaining"""
_URL = re.compile(r"https?://[^\s/]+\S*")
_ROLE_KEYS = (
    "duration",
    "externalId",
    "policy",
    "policyArns",
    "roleArn",
    "sessionName",
    "sourceIdentity",
    "tags",
    "transitiveTagKeys",
)
"""Keys of an entry: `ProviderAssumeRoleArgs` of pulumi-aws."""


class _Reading:
    """Reads the settings of one stack file, and collects what is wrong with them."""

    def __init__(self, stack_file: str) -> None:
        self._stack_file = stack_file
        self.problems: list[Problem] = []

    def key(self, path: str, value: Any) -> None:
        """Refuse a key that no provider has, or that trainyard does not honour."""
        namespace, _, name = path.partition(":")
        keys = PROVIDER_KEYS.get(namespace)
        if keys is None:
            self._namespace(path, namespace, name)
        elif name not in keys:
            self._unknown(path, namespace, name)
        elif keys[name].support is Support.REFUSED and not _is_harmless(keys[name], value):
            self._refuse(path, keys[name].meaning, _remedy(keys[name], path, self._stack_file))

    def _namespace(self, path: str, namespace: str, name: str) -> None:
        known: dict[str, Iterable[str]] = {**PROVIDER_KEYS, "trainyard": [ROOT.split(":")[1]]}
        if namespace in known or namespace in _OTHER_PACKAGES:
            return
        near = difflib.get_close_matches(namespace.lower(), known, n=1, cutoff=_NEAR_NAMESPACE)
        key = nearest(name, tuple(known[near[0]])) if near else None
        if key is not None:
            meant = f"{near[0]}:{key}"
            self._rename(
                path, f"is read by nothing: no package of the program is {namespace}", meant
            )

    def _unknown(self, path: str, namespace: str, name: str) -> None:
        keys, word = PROVIDER_KEYS[namespace], name.removeprefix("config:")
        meant = word if word in keys else nearest(word, tuple(keys))
        if meant is not None and keys[meant].support is not Support.REFUSED:
            self._rename(path, f"is no setting of the {namespace} provider", f"{namespace}:{meant}")
            return
        honoured = nearest(word, _names(Support.HONOURED)) if meant is None else None
        if honoured is not None:
            self._rename(path, f"is no setting of the {namespace} provider", f"aws:{honoured}")
            return
        problem = f"is no setting of the {namespace} provider"
        if meant is not None:
            problem += f"; the nearest is `{namespace}:{meant}`, and that {keys[meant].meaning}"
        remedy = _remedy(keys[meant], path, self._stack_file) if meant else ""
        self._refuse(path, problem, remedy or self._removal(path), _allowed(namespace))

    def _rename(self, path: str, problem: str, meant: str) -> None:
        self._refuse(
            path,
            f"{problem}; the nearest is `{meant}`",
            f"rename it to `{meant}` in {self._stack_file}",
            meant,
        )

    def _removal(self, path: str) -> str:
        return _remove(path, self._stack_file)

    def _refuse(
        self, path: str, problem: str, remedy: str, allowed: str | None = None, found: Any = None
    ) -> None:
        self.problems.append(
            Problem(
                path=printable(path),
                problem=problem,
                found=found,
                allowed=allowed,
                remedy=remedy,
            )
        )

    def _value(self, path: str, found: Any, problem: str, allowed: str, example: str) -> None:
        remedy = example_of(path, example, stack_file=self._stack_file)
        self._refuse(path, problem, remedy, allowed, found)

    def switch(self, name: str, given: Mapping[str, Any]) -> bool:
        """Return a setting that is true or false."""
        value = given[name]
        if isinstance(value, bool):
            return value
        if value in (None, "false", "true"):
            return value == "true"
        path = f"aws:{name}"
        self._value(path, value, "is neither true nor false", "true or false", "true")
        return False

    def sts_region(self, value: Any) -> str:
        """Return the region of STS."""
        if value is None or is_region(value):
            return value or ""
        path, near = "aws:stsRegion", nearest_region(plain_characters(str(value)))
        problem = "is not the name of a region" + (f"; the nearest is `{near}`" if near else "")
        self._value(path, value, problem, "a region", near or "us-west-2")
        return ""

    def accounts(self, path: str, value: Any) -> tuple[str, ...]:
        """Return the ids of accounts."""
        ids = self._list(path, value)
        for index, each in enumerate(ids):
            if not (isinstance(each, str) and _ACCOUNT_ID.fullmatch(each)):
                quoted = " in quotes: YAML reads it as a number" if isinstance(each, int) else ""
                self._value(
                    f"{path}[{index}]",
                    each,
                    f"is not the id of an account{quoted and ', which is text'}",
                    f"12 digits{quoted}",
                    '"123456789012"',
                )
        return tuple(each for each in ids if isinstance(each, str))

    def _list(self, path: str, value: Any) -> Sequence[Any]:
        if value is None:
            return ()
        if isinstance(value, list):
            return cast("Sequence[Any]", value)
        self._refuse(path, "is not a list", f"write it as a list in {self._stack_file}", "a list")
        return ()

    def endpoints(self, value: Any) -> tuple[tuple[str, str], ...]:
        """Return the addresses of the services that trainyard calls, by their boto3 names."""
        entries = self._list(ENDPOINTS_KEY, [value] if isinstance(value, Mapping) else value)
        given: dict[str, str] = {}
        for index, entry in enumerate(entries):
            for key, address in self._entry(
                f"{ENDPOINTS_KEY}[{index}]", entry, endpoint_keys()
            ).items():
                path = f"{ENDPOINTS_KEY}[{index}].{key}"
                if not (isinstance(address, str) and (not address or _URL.fullmatch(address))):
                    self._value(
                        path, address, "is no address", "a URL", "https://vpce-0a1b.example.com"
                    )
                elif address:
                    given[key] = address
        named = {service: [given[k] for k in keys if k in given] for service, keys in _SERVICES}
        return tuple((service, found[0]) for service, found in named.items() if found)

    def _entry(self, path: str, entry: Any, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the entry of a list without the keys that it cannot have, which are refused."""
        if not isinstance(entry, Mapping):
            allowed = "a mapping of keys to values"
            self._refuse(path, "is not a mapping", f"correct it in {self._stack_file}", allowed)
            return {}
        given, known = cast("Mapping[str, Any]", entry), sorted(keys)
        for key in given:
            if key not in known:
                meant = nearest(key, known)
                here = f"{path}.{key}"
                if meant:
                    self._rename(here, "is no key of it", f"{path}.{meant}")
                else:
                    allowed = ", ".join(known)
                    remedy = remove_command(here, stack_file=self._stack_file)
                    self._refuse(here, "is no key of it", remedy, allowed)
        return {key: value for key, value in given.items() if key in known}

    def roles(self, value: Any) -> tuple[AssumedRole, ...]:
        """Return the roles that are assumed one after the other."""
        found: list[AssumedRole] = []
        for index, entry in enumerate(self._list(ROLES_KEY, value)):
            path = f"{ROLES_KEY}[{index}]"
            given = self._entry(path, entry, _ROLE_KEYS)
            if not isinstance(entry, Mapping):
                continue
            arn = given.get("roleArn")
            if not (isinstance(arn, str) and _ROLE_ARN.fullmatch(arn)):
                self._value(
                    f"{path}.roleArn",
                    arn,
                    "is not the ARN of a role" if arn else "is missing",
                    "arn:PARTITION:iam::ACCOUNT:role/NAME",
                    "arn:aws:iam::123456789012:role/deploys-training",
                )
                continue
            longest = _LONGEST_IN_CHAIN if index else _LONGEST
            found.append(self._role(path, given, arn, longest))
        return tuple(found)

    def _role(self, path: str, given: Mapping[str, Any], arn: str, longest: int) -> AssumedRole:
        tags: object = given.get("tags") or {}
        if not isinstance(tags, Mapping):
            self._value(f"{path}.tags", tags, "is not a mapping", "tags by key", "team: research")
            tags = {}
        texts = cast("Mapping[object, object]", tags)
        return AssumedRole(
            role_arn=arn,
            session_name=self._text(path, given, "sessionName", _NAME),
            external_id=self._text(path, given, "externalId", _EXTERNAL_ID),
            duration_seconds=self._duration(f"{path}.duration", given.get("duration"), longest),
            policy=self._policy(f"{path}.policy", given.get("policy")),
            policy_arns=self._texts(path, given, "policyArns"),
            source_identity=self._text(path, given, "sourceIdentity", _NAME),
            tags=tuple((str(key), str(text)) for key, text in texts.items()),
            transitive_tag_keys=self._texts(path, given, "transitiveTagKeys"),
        )

    def _text(self, path: str, given: Mapping[str, Any], key: str, pattern: re.Pattern[str]) -> str:
        value = given.get(key)
        if value in (None, ""):
            return ""
        if isinstance(value, str) and pattern.fullmatch(value):
            return value
        allowed = f"text that matches {pattern.pattern}"
        problem = "has a length or characters that STS does not accept"
        self._value(f"{path}.{key}", value, problem, allowed, "trainyard")
        return ""

    def _texts(self, path: str, given: Mapping[str, Any], key: str) -> tuple[str, ...]:
        return tuple(map(str, self._list(f"{path}.{key}", given.get(key))))

    def _policy(self, path: str, value: Any) -> str:
        if value in (None, ""):
            return ""
        # Text that is JSON, such as a policy, was parsed with the key that it belongs to.
        parsed = _parsed(value)
        if isinstance(parsed, Mapping):
            return json.dumps(parsed)
        self._value(path, value, "is no policy", "a policy in JSON", '{"Version": "2012-10-17", …}')
        return ""

    def _duration(self, path: str, value: Any, longest: int) -> int:
        """Return the seconds of a duration of Go, such as `1h30m`; 0 without one."""
        if value in (None, ""):
            return 0
        match = _DURATION.fullmatch(value) if isinstance(value, str) else None
        hours, minutes, seconds = (int(part or 0) for part in match.groups()) if match else (0,) * 3
        total = hours * 3600 + minutes * 60 + seconds
        if _SHORTEST <= total <= longest:
            return total
        chained = " for a role that another role assumes" if longest < _LONGEST else ""
        allowed = f"from 15m to {longest // 3600}h{chained}, such as 1h or 45m"
        self._value(path, value, "is no duration that STS accepts", allowed, "1h")
        return 0

    def fit(self, settings: ProviderSettings) -> None:
        """Refuse settings that contradict each other."""
        allowed, forbidden = settings.allowed_account_ids, settings.forbidden_account_ids
        if allowed and forbidden:
            # `ConflictsWith` of both arguments in the provider.
            self._refuse(
                FORBIDDEN_KEY,
                f"is given together with {ALLOWED_KEY}, which already excludes all others",
                self._removal(FORBIDDEN_KEY),
                f"one of {ALLOWED_KEY} and {FORBIDDEN_KEY}",
            )
        last = settings.roles[-1].account_id if settings.roles else ""
        if last and ((allowed and last not in allowed) or last in forbidden):
            self._refuse(
                ALLOWED_KEY if allowed else FORBIDDEN_KEY,
                f"excludes account {last}, to which the last role of {ROLES_KEY} belongs",
                "correct the account ids, or the role",
                found=[*(allowed or forbidden)],
            )


_SERVICES = tuple(ENDPOINTS_OF.items())


def _names(support: Support) -> tuple[str, ...]:
    return tuple(name for name, key in AWS_KEYS.items() if key.support is support)


def _allowed(namespace: str) -> str:
    honoured = ", ".join(f"aws:{name}" for name in _names(Support.HONOURED))
    return honoured if namespace == "aws" else f"no key of {namespace}"


def _is_harmless(key: ProviderKey, value: Any) -> bool:
    # The engine hands on a boolean as text.
    read = {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value
    return key.unless is not None and read is key.unless


def _remedy(key: ProviderKey, path: str, stack_file: str) -> str:
    removal = _remove(path, stack_file)
    instead = key.instead
    if not instead or instead == "remove it":
        return removal
    return f"{removal}; {instead.removeprefix('remove it; ').removeprefix('remove it, and ')}"


def _region_problem(region: object, stack_file: str) -> Problem | None:
    if is_region(region):
        return None
    if region in (None, ""):
        return Problem(
            path=REGION_KEY,
            problem="is missing: reservations, subnets and images belong to one region",
            allowed="the region of the reservation, such as us-west-2",
            remedy=example_of(REGION_KEY, "us-west-2", stack_file=stack_file),
        )
    text = str(region)
    odd = odd_characters(text)
    near = nearest_region(plain_characters(text))
    return Problem(
        path=REGION_KEY,
        problem=(
            "is not the name of a region"
            + (f": it contains {odd}" if odd else "")
            + (f"; the nearest is `{near}`" if near else "")
        ),
        found=region,
        allowed=", ".join(known_regions()),
        remedy=(
            set_command(REGION_KEY, near, stack_file=stack_file).replace(" --path", "")
            if near
            else example_of(REGION_KEY, "us-west-2", stack_file=stack_file)
        ),
    )


def _profile_problem(profile: object, stack_file: str) -> Problem | None:
    if profile is None or (isinstance(profile, str) and profile.isprintable()):
        return None
    return Problem(
        path=PROFILE_KEY,
        problem="is not the name of a profile",
        found=profile,
        allowed="the name of a profile in ~/.aws/config, or no such key",
        remedy=_remove(PROFILE_KEY, stack_file),
    )
