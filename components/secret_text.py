"""Keep what looks like a secret out of every output.

A stack file, a script address or an engine message can hold a key that was pasted by mistake.
Terminals, CI logs, `--json` and SARIF uploads are read by more people than the file, so messages
say that a secret was found and never repeat it. `without_secrets` is the only place that decides
what looks like a secret.

Sources of the forms:

- AWS access keys and session tokens:
  https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
  and https://github.com/awslabs/git-secrets (`aws_secret_access_key` has 40 characters)
- signatures of presigned addresses:
  https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
- GitHub tokens:
  https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats
- tokens of Hugging Face, NVIDIA NGC, GitLab, Docker, Slack, PyPI, Pulumi and OpenAI:
  https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, cast

HIDDEN = "[secret not shown]"
"""The text that replaces a secret in messages."""

_NAME = (
    r"(?i:(?:passw(?:or)?d|passphrase|secret[_-]?access[_-]?key|secret[_-]?key|api[_-]?key"
    r"|access[_-]?token|auth[_-]?token|session[_-]?token|security[_-]?token|bearer[_-]?token"
    r"|private[_-]?key|client[_-]?secret|hf[_-]?token|hub[_-]?token|gh[_-]?token|github[_-]?token))"
)
"""The end of names whose values are secrets, such as `WANDB_API_KEY`."""
_SECRET_NAME = re.compile(rf"{_NAME}$")
_WHOLE = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    r"(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    # The same without its first line, or encoded once more.
    r"|b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=\s]*"
    r"|LS0tLS1CRUdJTi(?:BPUEVOU1NI|BSU0Eg|BFQyBQ|BQUklW|BFTkNS)[A-Za-z0-9+/=\s]*"
    r"|PuTTY-User-Key-File-\d(?s:.*)"
    r"|\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"
    r"|(?:FwoG|FQoG|IQoJ|AQoD|AQoE)[A-Za-z0-9/+=]{60,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{22,}|\bglpat-[A-Za-z0-9_-]{20,}"
    r"|\bhf_[A-Za-z0-9]{30,}|\bnvapi-[A-Za-z0-9_-]{20,}|\bdckr_pat_[A-Za-z0-9_-]{20,}"
    r"|\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bpypi-[A-Za-z0-9_-]{50,}|\bpul-[0-9a-f]{40}"
    r"|\bsk-[A-Za-z0-9_-]{32,}|\bwandb_v\d_[A-Za-z0-9_]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+"
)
"""Texts that are secrets in any place."""
_IN_ADDRESS = re.compile(r"(?<=://)[^\s/@:?#]*:[^\s/@]+(?=@)")
"""User and password before the host of an address."""
_SIGNED = re.compile(
    r"(?i)([?&](?:X-Amz-(?:Signature|Security-Token)|sig|signature|token)=)[^&\s]+"
)
_NAMED = re.compile(rf"({_NAME}[\"']?\s*[=:]\s*)(\"[^\"]+\"|'[^']+'|[^\s\"',;}}\]]+)")
"""A value after a name: `password=…`, `"hf_token": "…"`."""
_WORD = re.compile(r"(?<![A-Za-z0-9/+=_.:-])[A-Za-z0-9/+]{40}={0,2}(?![A-Za-z0-9/+=_.-])")
_NGC = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9+/]{84}(?![A-Za-z0-9/+=])")
_LEAST_TURNS = 16
"""How often the kind of character changes in a secret access key: about 25 times in 40 random
characters of Base64, less than half as often in a path."""


def without_secrets(text: str) -> str:
    """Return a text with `HIDDEN` in place of everything that looks like a secret."""
    found = _WHOLE.sub(HIDDEN, text)
    found = _IN_ADDRESS.sub(HIDDEN, found)
    found = _SIGNED.sub(rf"\g<1>{HIDDEN}", found)
    found = _NAMED.sub(_hidden_value, found)
    found = _WORD.sub(lambda word: HIDDEN if _is_random(word[0]) else word[0], found)
    return _NGC.sub(lambda word: HIDDEN if _is_ngc_key(word[0]) else word[0], found)


def looks_secret(text: str) -> bool:
    """Return whether a text contains what looks like a secret."""
    return without_secrets(text) != text


def names_secret(name: str) -> bool:
    """Return whether a name, such as that of a variable, is one whose values are secrets."""
    return _SECRET_NAME.search(name) is not None


def is_private_key(text: str) -> bool:
    """Return whether a text contains a private key in one of the forms of OpenSSH and PEM."""
    found = _WHOLE.search(text)
    return found is not None and found[0].startswith(("-----BEGIN", "b3Blbn", "LS0tLS", "PuTTY"))


def hidden(value: Any) -> Any:
    """Return a value of a stack file, or a JSON document, without secrets.

    Values below a key such as `password` are hidden whatever they look like.
    """
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, Any]", value)
        return {_plain_key(key): _below(key, each) for key, each in entries.items()}
    if isinstance(value, list | tuple):
        return [hidden(each) for each in cast("list[Any]", value)]
    return value


def hidden_at(path: str, value: Any) -> Any:
    """Return the value of a key such as `trainyard:cluster.tags.password` without secrets."""
    return _below(path, value)


def _plain_key(key: Any) -> Any:
    return without_secrets(key) if isinstance(key, str) else key


def _below(key: Any, value: Any) -> Any:
    secret = isinstance(key, str) and _SECRET_NAME.search(key) is not None
    return HIDDEN if secret and isinstance(value, str) and value else hidden(value)


def _hidden_value(found: re.Match[str]) -> str:
    quote = found[2][0] if found[2][0] in "\"'" else ""
    return found[0] if HIDDEN in found[2] else f"{found[1]}{quote}{HIDDEN}{quote}"


def _is_random(word: str) -> bool:
    """Return whether 40 characters are those of a secret access key, not a digest or a path."""
    kinds = [_kind(each) for each in word]
    turns = sum(one != other for one, other in pairwise(kinds))
    return {"lower", "upper"} <= set(kinds) and turns >= _LEAST_TURNS


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    if not character.isalpha():
        return "sign"
    return "upper" if character.isupper() else "lower"


def _is_ngc_key(word: str) -> bool:
    # An older API key of NGC is `KEY:UUID` in Base64.
    text = base64.b64decode(word).decode("ascii", errors="replace")
    return re.fullmatch(r"[a-z0-9]{26}:[0-9a-f-]{36}", text) is not None
