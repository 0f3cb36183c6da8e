"""The session with an account: the only place that makes sessions and clients of boto3.

Program, checks and commands reach the account of a stack as the engine does: with the profile, the
roles, the endpoints and the region of `ProviderSettings`, and only if the account is allowed.

Sources:
    https://github.com/hashicorp/aws-sdk-go-base/blob/v2.0.0-beta.72/credentials.go,
        `assumeRoleCredentialsProvider`: the roles are assumed in order, each with the credentials
        of the one before
    https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
    https://docs.aws.amazon.com/boto3/latest/guide/credentials.html
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.credentials import (
    AssumeRoleCredentialFetcher,
    CredentialProvider,
    CredentialResolver,
    DeferredRefreshableCredentials,
)
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from trainyard.components.account.answers import AccountUnreachableError
from trainyard.components.account.call_failures import CLIENT, explained
from trainyard.components.config.problems import ConfigError
from trainyard.components.config.provider_settings import (
    ALLOWED_KEY,
    FORBIDDEN_KEY,
    OF_ENVIRONMENT,
    ROLES_KEY,
    AssumedRole,
    ProviderSettings,
)

NO_CREDENTIALS = (
    "no AWS credentials were found; log in (`aws sso login`, AWS_PROFILE or the AWS_ACCESS_KEY_ID "
    "variables), or add --sandbox to run without an account"
)
_STS_REGION = "us-east-1"
"""Region of STS for commands that know no region."""


def usual_region(profile: str = "") -> str:
    """Return the region of the environment or of a profile; empty if there is none."""
    import boto3

    # boto3 reads AWS_DEFAULT_REGION only; the AWS provider of the engine reads this one first.
    session = boto3.Session(profile_name=profile or None)
    return os.environ.get("AWS_REGION") or session.region_name or ""


def has_credentials() -> bool:
    """Return whether the environment, the files or the instance have credentials.

    Raises:
        botocore.exceptions.BotoCoreError: they have some that cannot be used.
    """
    return botocore.session.get_session().get_credentials() is not None


class WrongAccountError(AccountUnreachableError):
    """The credentials belong to an account that the stack file excludes."""


class RoleNotAssumedError(AccountUnreachableError):
    """AWS refuses a role of `aws:assumeRoles`."""


class AccountSession:
    """Makes the clients of an account. Thread-safe."""

    def __init__(self, settings: ProviderSettings = OF_ENVIRONMENT, *, region: str = "") -> None:
        """Take the settings; AWS is not called.

        Args:
            settings: How the account is reached.
            region: Region of the clients; by default that of the settings.

        Raises:
            ConfigError: the settings have problems.
        """
        if settings.problems:
            raise ConfigError(settings.problems, stack_file=settings.stack_file)
        self.settings = settings
        self.region = region or settings.region
        # Sessions are not thread-safe, clients are.
        self._making = threading.Lock()
        self._session: Any = None

    def client(self, service: str, config: Config | None = None, *, region: str = "") -> Any:
        """Return a new client of a service.

        The first client assumes the roles and compares the account, if the settings have any.

        Args:
            service: Name of the service, as boto3 has it.
            config: Time limits and repeats; by default `CLIENT`.
            region: Another region than that of the session.

        Raises:
            AccountUnreachableError: there are no credentials, a role cannot be assumed, or the
                account is not allowed.
        """
        with self._making:
            if self._session is None:
                self._session = _proven(self.settings, self.region)
            return _client(self._session, self.settings, service, region or self.region, config)

    def prove(self) -> None:
        """Assume the roles and compare the account, if the settings ask for it.

        Raises:
            AccountUnreachableError: as `client`.
        """
        with self._making:
            if self._session is None:
                self._session = _proven(self.settings, self.region)

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """Return the environment in which the AWS CLI reaches the account as this session does.

        Credentials of a role are those of the moment: they expire, and are not renewed.

        Args:
            inherited: The environment that it is based on, in which a profile is set already.

        Raises:
            AccountUnreachableError: as `client`.
        """
        self.prove()
        settings, given = self.settings, dict(inherited)
        if settings.roles:
            keys = self._session.get_credentials().get_frozen_credentials()
            given.pop("AWS_PROFILE", None)
            given |= {
                "AWS_ACCESS_KEY_ID": keys.access_key,
                "AWS_SECRET_ACCESS_KEY": keys.secret_key,
                "AWS_SESSION_TOKEN": keys.token,
            }
        given |= {"AWS_USE_DUALSTACK_ENDPOINT": "true"} if settings.use_dual_stack else {}
        given |= {"AWS_USE_FIPS_ENDPOINT": "true"} if settings.use_fips else {}
        return given | {_endpoint_variable(name): url for name, url in settings.endpoints}


def _endpoint_variable(service: str) -> str:
    """Return the variable with the address of a service.

    https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
    """
    model = botocore.session.get_session().get_service_model(service)
    return f"AWS_ENDPOINT_URL_{str(model.service_id).replace(' ', '_').upper()}"


def _client(
    session: Any, settings: ProviderSettings, service: str, region: str, config: Config | None
) -> Any:
    # The endpoints of a stack are in its region.
    is_of_stack = not settings.region or region == settings.region
    endpoint = dict(settings.endpoints).get(service) if is_of_stack else None
    if service == "sts":
        region = settings.sts_region or region or _STS_REGION
    more: dict[str, Any] = {}
    if settings.use_path_style:
        more["s3"] = {"addressing_style": "path"}
    # Neither is possible with an address of one's own: the endpoint rules of the services.
    if settings.use_dual_stack and endpoint is None:
        more["use_dualstack_endpoint"] = True
    if settings.use_fips and endpoint is None:
        more["use_fips_endpoint"] = True
    whole = (config or CLIENT).merge(Config(**more)) if more else config or CLIENT
    return session.client(service, region_name=region, endpoint_url=endpoint, config=whole)


_SESSIONS: dict[Any, Any] = {}
"""Sessions whose roles are assumed and whose account is compared, by what they depend on: commands
enter an account several times, and each time would assume the roles again."""
_PROVING = threading.Lock()


def _proven(settings: ProviderSettings, region: str) -> Any:
    """Return the session of an account that may be used."""
    if not settings.is_guarded:
        return _based_on(settings)
    variables = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    key = settings, region, tuple(sorted(variables.items()))
    with _PROVING:
        if key not in _SESSIONS:
            session = _with_roles(settings, region)
            _compare_account(session, settings, region)
            _SESSIONS[key] = session
        return _SESSIONS[key]


def _based_on(settings: ProviderSettings) -> Any:
    import boto3  # `plan` and others only look for credentials, with botocore

    try:
        return boto3.Session(profile_name=settings.profile or None)
    except BotoCoreError as error:
        raise AccountUnreachableError(
            f"the AWS credentials cannot be used: {error}; correct `aws:profile` or AWS_PROFILE"
        ) from error


def _with_roles(settings: ProviderSettings, region: str) -> Any:
    """Return the session of the last role; every role is assumed once now."""
    session = _based_on(settings)
    for index, role in enumerate(settings.roles):
        try:
            credentials = _assumed(session, settings, region, role)
            credentials.get_frozen_credentials()
        except (BotoCoreError, ClientError) as error:
            caller = _caller(session, settings, region)
            raise _not_assumed(f"{ROLES_KEY}[{index}]", role, caller, settings, error) from error
        session = _holding(credentials)
    return session


def _assumed(session: Any, settings: ProviderSettings, region: str, role: AssumedRole) -> Any:
    """Return credentials of a role, which are renewed before they expire."""
    source = session.get_credentials()
    if source is None:
        raise AccountUnreachableError(NO_CREDENTIALS)

    def sts(_service: str, **_keys: str) -> Any:
        return _client(session, settings, "sts", region, None)

    fetcher = AssumeRoleCredentialFetcher(sts, source, role.role_arn, _arguments(role))
    return DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")


def _arguments(role: AssumedRole) -> dict[str, Any]:
    """Return the arguments of AssumeRole besides the role."""
    given = {
        "RoleSessionName": role.session_name,
        "ExternalId": role.external_id,
        "DurationSeconds": role.duration_seconds,
        "Policy": role.policy,
        "PolicyArns": [{"arn": arn} for arn in role.policy_arns],
        "SourceIdentity": role.source_identity,
        "Tags": [{"Key": key, "Value": value} for key, value in role.tags],
        "TransitiveTagKeys": list(role.transitive_tag_keys),
    }
    return {name: value for name, value in given.items() if value}


class _Held(CredentialProvider):
    METHOD = "assume-role"

    def __init__(self, credentials: Any) -> None:
        super().__init__()
        self._credentials = credentials

    def load(self) -> Any:
        return self._credentials


def _holding(credentials: Any) -> Any:
    """Return a session with credentials that it does not look for."""
    import boto3

    core = botocore.session.get_session()
    core.register_component("credential_provider", CredentialResolver([_Held(credentials)]))
    return boto3.Session(botocore_session=core)


def _caller(session: Any, settings: ProviderSettings, region: str) -> str:
    """Return the ARN of the caller, for messages."""
    try:
        return str(_client(session, settings, "sts", region, None).get_caller_identity()["Arn"])
    except (BotoCoreError, ClientError):
        return "the caller"


def _not_assumed(
    place: str,
    role: AssumedRole,
    caller: str,
    settings: ProviderSettings,
    error: BotoCoreError | ClientError,
) -> AccountUnreachableError:
    if isinstance(error, NoCredentialsError):
        return AccountUnreachableError(NO_CREDENTIALS)
    external = "" if role.external_id else "; if that asks for an external id, set `externalId`"
    code = error.response.get("Error", {}).get("Code") if isinstance(error, ClientError) else ""
    fix = (
        f"\n  allow {caller} to call sts:AssumeRole on it, and name {caller} in the trust policy "
        f"of the role{external}"
    )
    return RoleNotAssumedError(
        f"{place} in {settings.stack_file}: {caller} cannot assume {role.role_arn}: "
        f"{explained('sts:AssumeRole', error)}{fix if code == 'AccessDenied' else ''}"
    )


def _compare_account(session: Any, settings: ProviderSettings, region: str) -> None:
    """Refuse an account that the settings exclude, as the provider does before its first call."""
    allowed, forbidden = settings.allowed_account_ids, settings.forbidden_account_ids
    if not allowed and not forbidden:
        return
    try:
        answer = _client(session, settings, "sts", region, None).get_caller_identity()
    except NoCredentialsError as error:
        raise AccountUnreachableError(NO_CREDENTIALS) from error
    except (BotoCoreError, ClientError) as error:
        raise AccountUnreachableError(explained("sts:GetCallerIdentity", error)) from error
    account, arn = answer["Account"], answer["Arn"]
    if account in forbidden or (allowed and account not in allowed):
        key = ALLOWED_KEY if allowed else FORBIDDEN_KEY
        raise WrongAccountError(
            f"{key} in {settings.stack_file} {'allows' if allowed else 'forbids'} "
            f"{', '.join(allowed or forbidden)}, and the credentials are of account {account} "
            f"({arn}); nothing was done\n  use those of the right account: set AWS_PROFILE or "
            f"`aws:profile`, or a role of it in `{ROLES_KEY}`; or correct {key}"
        )
