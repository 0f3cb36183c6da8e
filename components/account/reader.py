"""Read from one region of one account: its session, its pages, and calls side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from botocore.parsers import ResponseParserError

from trainyard.components.account.answers import (
    AccountUnreachableError,
    MissingValueError,
    UnexpectedAnswerError,
    last_call,
    understood,
)
from trainyard.components.account.call_failures import explained
from trainyard.components.account.error_codes import NOT_ALLOWED, NOT_FOUND
from trainyard.components.account.session import NO_CREDENTIALS, AccountSession
from trainyard.components.config.provider_settings import (
    OF_ENVIRONMENT,
    ProviderSettings,
    is_region,
)

T = TypeVar("T")


_MOST_PAGES = 1000
"""Limit for one list call; no list that a stack depends on has more pages."""


class AccountReader:
    """Reads facts from one region of one account. Thread-safe.

    A denied call is recorded in `unreadable` and returns an empty result.
    """

    def __init__(self, *, region: str, settings: ProviderSettings = OF_ENVIRONMENT) -> None:
        """Create the session without calling AWS.

        Args:
            region: The region to read from.
            settings: How the account is reached; by default with what the environment has.

        Raises:
            AccountUnreachableError: `region` is not a valid region name.
            ConfigError: the settings have problems.
        """
        if not is_region(region):
            raise AccountUnreachableError(
                f"aws:region is no region: {region!r}; set it to one, such as us-west-2"
            )
        self.session = AccountSession(settings, region=region)
        self._clients: dict[str, Any] = {}
        self._making = threading.Lock()
        self._asking_for_account = threading.Lock()
        self._account_id: str | None = None
        self.region = region
        self.unreadable: list[str] = []
        self.left_out: dict[str, str] = {}
        """Why objects of the account are left out of the facts, by object."""

    @property
    def ec2(self) -> Any:
        """The client of EC2."""
        return self.client("ec2")

    @property
    def eks(self) -> Any:
        """The client of EKS."""
        return self.client("eks")

    @property
    def fsx(self) -> Any:
        """The client of FSx."""
        return self.client("fsx")

    @property
    def resource_groups(self) -> Any:
        """The client of Resource Groups."""
        return self.client("resource-groups")

    @property
    def sts(self) -> Any:
        """The client of STS."""
        return self.client("sts")

    def client(self, service: str) -> Any:
        """Return the client of a service by its boto3 name; created on first use."""
        with self._making:
            if service not in self._clients:
                self._clients[service] = self.session.client(service)
            return self._clients[service]

    def not_read(self) -> tuple[str, ...]:
        """Return the denied calls, without duplicates and in a stable order."""
        return tuple(sorted(set(self.unreadable)))

    def leave_out(self, what: str, why: str) -> None:
        """Record that an object is left out of the facts, which the commands say.

        An object that a stack does not own can have any state. It never ends a command.

        Args:
            what: The object, such as `subnet subnet-0a…`.
            why: What it lacks, such as `it has no IPv4 block`.
        """
        self.left_out[what] = why

    def ask(
        self, call: str, do: Callable[..., Any], *, if_denied: Any = None, **arguments: Any
    ) -> Any:
        """Return the response, None if it finds nothing, or `if_denied` if the call is denied.

        Raises:
            AccountUnreachableError: no credentials, no answer, or an answer that does not match the
                API.
        """
        try:
            return understood(call, do(**arguments), do)
        except NoCredentialsError as error:
            raise AccountUnreachableError(NO_CREDENTIALS) from error
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in NOT_FOUND:
                return None
            if code in NOT_ALLOWED:
                self.unreadable.append(f"{call}: {code}")
                return if_denied
            raise AccountUnreachableError(explained(call, error)) from error
        except BotoCoreError as error:
            raise AccountUnreachableError(explained(call, error)) from error
        except (ResponseParserError, ValueError, LookupError, TypeError, AttributeError) as error:
            # The parsers of boto3 raise these for responses that do not match the API.
            raise UnexpectedAnswerError(call, f"{type(error).__name__}: {error}") from error

    def ask_or_none(self, call: str, do: Callable[..., Any], **arguments: Any) -> Any:
        """Return the response of one call, or None if it fails; the preflight goes on without."""
        try:
            return self.ask(call, do, **arguments)
        except AccountUnreachableError as error:
            self.unreadable.append(f"{call}: {error}")
            return None

    def pages(
        self, call: str, do: Callable[..., Any], *, next_key: str = "nextToken", **arguments: Any
    ) -> Iterator[Any]:
        """Yield the pages of a call; none if it is denied.

        Raises:
            AccountUnreachableError: as `ask`, or the pages form a loop.
        """
        seen: set[str] = set()
        while answer := self.ask(call, do, **arguments):
            yield answer
            following = answer.get(next_key)
            if not following:
                return
            if following in seen or len(seen) == _MOST_PAGES:
                raise UnexpectedAnswerError(call, "its pages have no end")
            seen.add(following)
            arguments[next_key] = following

    def account_id(self) -> str:
        """Return the account id of the caller, which is asked for once."""
        with self._asking_for_account:
            account = self._account_id
            if account is None:
                answer = self.ask("sts:GetCallerIdentity", self.sts.get_caller_identity)
                account = self._account_id = str(answer["Account"]) if answer else ""
            return account


def readable(
    reader: AccountReader,
    kind: str,
    key: str,
    answers: Iterable[Mapping[str, Any]],
    read: Callable[[Any], T],
) -> Iterator[T]:
    """Yield what `read` makes of listed objects; leave out those that lack a value.

    A list has the objects of all owners, in every state. Objects that a stack file names are not
    read with this: what they lack is an error.

    Args:
        reader: The reader, which records what is left out.
        kind: What they are, such as `capacity reservation`.
        key: Key of their id.
        answers: The objects in a response.
        read: Makes facts of one.
    """
    for each in answers:
        try:
            yield read(each)
        except MissingValueError as error:
            reader.leave_out(f"{kind} {each.get(key, 'without an id')}", error.problem)


# Parallel calls to AWS.
#
# Each call takes a round trip; in parallel, all of them take little more than the longest chain.
# Clients of boto3 are thread-safe, sessions are not:
# https://docs.aws.amazon.com/boto3/latest/guide/clients.html#multithreading-or-multiprocessing-with-clients


Reading = Callable[[], Mapping[str, Any]]
"""Calls AWS and returns fields of a facts record, by name."""

_AT_ONCE = 16
"""Maximum number of concurrent calls: EC2 refills its request buckets with 20 tokens per second.

https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
"""


def read_side_by_side(readings: Iterable[Reading]) -> dict[str, Any]:
    """Return the fields of all readings; mappings of the same field are merged.

    Raises:
        AccountUnreachableError: the error of the first failed reading.
    """
    fields: dict[str, Any] = {}
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        for answer in [pool.submit(_read, reading) for reading in readings]:
            for name, value in answer.result().items():
                fields[name] = _joined(fields.get(name), value)
    return fields


def _read(reading: Reading) -> Mapping[str, Any]:
    try:
        return reading()
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # The types are right but a value cannot be parsed, such as an invalid CIDR block.
        problem = f"{type(error).__name__}: {error}"
        raise UnexpectedAnswerError(last_call(), problem) from error


def _joined(known: Any, value: Any) -> Any:
    if isinstance(known, Mapping) and isinstance(value, Mapping):
        return {**cast("Mapping[str, Any]", known), **cast("Mapping[str, Any]", value)}
    return value


def enabled_regions(reader: AccountReader) -> tuple[str, ...]:
    """Return the regions that the account can use, sorted; empty if the call is denied.

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeRegions.html: without
    `AllRegions`, only enabled ones.
    """
    answer = reader.ask("ec2:DescribeRegions", reader.ec2.describe_regions)
    return tuple(sorted(each["RegionName"] for each in (answer or {}).get("Regions", [])))
