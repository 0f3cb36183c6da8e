"""Keep what looks like a secret out of every text that leaves this machine.

A stack file, a script address or an engine message can hold a key that was pasted by mistake.
Terminals, CI logs, `--json` and SARIF uploads, reports and diagnoses are read by more people than
the file, so they say that a secret was found and never repeat it. This module is the only place
that decides which texts and which names look like a secret; `trainyard.components.secret_documents`
applies it to documents.

A value is hidden for its form (`hf_…`), or for its name (`DB_PASS=…`, `--wandb-key …`,
`Authorization: Bearer …`). 40 hexadecimal digits alone are a Git commit, and therefore shown: an
older key of Weights & Biases has the same form, and is hidden after a name, a flag or
`wandb login`.

Sources of the forms:

- AWS access keys and session tokens:
  https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
  and https://github.com/awslabs/git-secrets (`aws_secret_access_key` has 40 characters)
- tokens of EKS: https://github.com/kubernetes-sigs/aws-iam-authenticator (`v1Prefix` in
  pkg/token/token.go)
- signatures of presigned addresses:
  https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
- GitHub tokens:
  https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats
- the others, except OAuth tokens of Google and an older key of NGC, in simpler spelling:
  https://github.com/gitleaks/gitleaks/blob/b58d3f102cf3a2c84cb7f923d05c25c9b1aed84b/config/gitleaks.toml
- OAuth tokens of Google (`ya29.`):
  https://github.com/trufflesecurity/trufflehog/blob/main/pkg/detectors/googleoauth2/googleoauth2_access_token.go
- names: the rule `generic-api-key` of gitleaks
- `auth` of a registry: https://github.com/docker/cli/blob/master/cli/config/types/authconfig.go
"""

from __future__ import annotations

import base64
import binascii
import re
from itertools import pairwise

HIDDEN = "[secret not shown]"
"""The text that replaces a secret."""

_KINDS_OF_KEYS = (
    "api|secret|access|secret[_-]?access|private|account|shared|shared[_-]?access|signing"
    "|encryption|license|auth|master|deploy|session|client|wandb|ngc|neptune|comet"
)
_STRICT = (
    rf"(?:passw(?:or)?ds?|passphrases?|passwd|(?<![a-z])pwd|(?:{_KINDS_OF_KEYS})[_-]?keys?"
    r"|(?:access|auth|session|security|bearer|hf|hub|gh|github)[_-]?tokens?|client[_-]?secret)"
)
"""The end of names whose values are secrets in prose too: `the password: …`."""
_LOOSE = (
    r"(?:tokens?|secrets?|credentials?|(?<![a-z])creds"
    r"|(?<!by)(?<!com)(?<!sur)(?<!tres)pass|dockerconfigjson|webhook[_-]?url"
    r"|(?<![a-z0-9])_auth|authorization|(?<![a-z])cookie)"
)
"""The end of names that prose also has: `ExpiredToken: The security token … is expired`."""
_NAME = rf"(?i:{_STRICT}|{_LOOSE})"
"""The end of names whose values are secrets, such as `WANDB_API_KEY`."""
_SECRET_NAME = re.compile(rf"{_NAME}$")
_COUNTED_NAME = re.compile(r"(?i)(?:tokens?|^pass)$")
"""Names whose value is a number that is no secret: `max_tokens: 4096`, `pass: 3`."""
_KEY_NAME = re.compile(r"(?i)(?<!public)(?<!public[_-])(?:key|auth)$")
"""Names whose values are secrets if they look random."""
_WHOLE = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    r"(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    # The same without its first line, or encoded once more.
    r"|b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=\s]*"
    r"|LS0tLS1CRUdJTi(?:BPUEVOU1NI|BSU0Eg|BFQyBQ|BQUklW|BFTkNS)[A-Za-z0-9+/=\s]*"
    r"|PuTTY-User-Key-File-\d(?s:.*)"
    r"|\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b|\bABSK[A-Za-z0-9+/]{60,}={0,2}"
    r"|\bbedrock-api-key-[A-Za-z0-9+/=_-]{20,}"
    r"|(?:FwoG|FQoG|IQoJ|AQoD|AQoE)[A-Za-z0-9/+=]{60,}|\bk8s-aws-v1\.[A-Za-z0-9_-]+"
    r"|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{22,}"
    r"|\bgl(?:pat|cbt|dt|ft|imt|agent|oas|ptt|rt|soat|ffct)-[A-Za-z0-9_.-]{20,}|\bGR1348941[\w-]{20}"
    r"|\b(?:hf_|api_org_)[A-Za-z0-9]{30,}|\bnvapi-[A-Za-z0-9_-]{20,}|\bdckr_[op]at_[A-Za-z0-9_-]{20,}"
    r"|\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}"
    r"|\bhooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,}"
    r"|\bdiscord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}"
    r"|\bwebhook\.office\.com/webhookb2/[^\s\"'<]{20,}"
    r"|\bpypi-[A-Za-z0-9_-]{50,}|\bpul-[0-9a-f]{40}|\bnpm_[A-Za-z0-9]{36}|\brubygems_[a-f0-9]{48}"
    r"|\bsk-[A-Za-z0-9_-]{32,}|\b(?:sk|rk)_(?:test|live|prod)_[A-Za-z0-9]{10,}"
    r"|\bwandb_v\d_[A-Za-z0-9_]{20,}|\bpplx-[A-Za-z0-9]{40,}"
    r"|\bAIza[\w-]{35}|\bya29\.[\w.-]{10,}|\bGOCSPX-[\w-]{20,}"
    r"|\bdapi[a-f0-9]{32}|\bdo[opr]_v1_[a-f0-9]{64}|\bhv[sb]\.[\w-]{24,}|\bSG\.[\w.=-]{40,}"
    r"|\bgl(?:c_[A-Za-z0-9+/]{32,}|sa_[A-Za-z0-9]{32}_)[A-Za-z0-9]*={0,3}"
    r"|\bAGE-SECRET-KEY-1[A-Z0-9]{58}|\bATATT3[\w=-]{100,}|\bsntry[su]_[\w=+/-]{40,}"
    r"|\bops_eyJ[A-Za-z0-9+/]{40,}|\b\d{5,16}:A[A-Za-z0-9_-]{34}\b"
    r"|(?<![\w.~-])[\w~.]{3}\dQ~[\w~.-]{31,34}"
    r"|\beyJhdXRocyI6[A-Za-z0-9+/=]+"  # the configuration of Docker, encoded
    r"|\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+"
)
"""Texts that are secrets in any place."""
_PORT = r"(?!\d{1,5}(?:[/?#\s\"']|$))"
_IN_ADDRESS = re.compile(
    # User and password before the host, up to the last `@` before the path; a password with `/`.
    rf"(?<=://)[^\s/@:?#\"']*:{_PORT}(?:[^\s/\"'<]+(?=@)|(?!\$)[^\s@\"'<]{{1,300}}+(?=@))"
    # A token in place of the user; `ssh://git@…` is none.
    r"|(?<=http://)[^\s/@:?#\"'<]+(?=@)|(?<=https://)[^\s/@:?#\"'<]+(?=@)"
)
_SIGNED = re.compile(
    r"(?i)([?&](?:X-Amz-(?:Signature|Security-Token)|sig|signature|token)=)(?!\[)[^&\s\"'<]+"
)
_QUOTED = (
    # A quote before a letter does not end it.
    r"\"(?:\\.|[^\"\\\n]|\"(?=\w))+\"|'(?:\\.|[^'\\\n]|'(?=\w))+'"
    # In a text in JSON: what has more backslashes does not end it.
    r"|(?P<escape>\\+)(?P<quote>[\"'])(?:(?!(?<!\\)(?P=escape)(?P=quote))[^\n])+"
    r"(?P=escape)(?P=quote)"
)
# A separator is a part of the value if something follows it; a tag of a page ends it.
_BARE = r"(?:[^\s\"'`,;}\])<]|[,;}\])](?=[^\s\"'`,;}\])<])|<(?!/?[a-zA-Z]+[\s>/]))+"
_OPEN = r"[\\\"']*"
_ASSIGNED = re.compile(rf"({_NAME}{_OPEN}[ \t]*(?:=[ \t]*|:[ \t]*(?=[\\\"'])))({_QUOTED}|{_BARE})")
"""`DB_PASS=…`, and `"hf_token": "…"`."""
_STRICT_VALUE = re.compile(rf"((?i:{_STRICT}){_OPEN}[ \t]*:[ \t]*)({_BARE})")
"""`password: …`."""
_LINE = re.compile(
    rf"(?m)^([ \t>|#+-]*[\w.-]{{0,60}}?(?i:{_STRICT}){_OPEN}:[ \t]+)([^\s\"'|>&*!\[{{#][^\n]*)$"
)
"""A line of YAML, whose value can have spaces."""
_QUOTED_LINE = re.compile(
    rf"([\"'`][\w.-]{{0,60}}?(?i:{_STRICT}):[ \t]+)([^\s\"'`|>&*!\[{{#][^\n\"'`]*)(?=[\"'`])"
)
"""The same as a whole text in quotes."""
_KEY_VALUE = re.compile(
    rf"(?m)((?:^[ \t>|#+-]*|\\n[ \t-]*|[{{,(\"'`]\s*)[\w.-]{{0,60}}?{_NAME}{_OPEN}:[ \t]*)"
    rf"({_BARE})(?=\s*(?:$|[\"'`,;}}\])\\]|\s#))"
)
"""A single word after a key."""
_RANDOM_VALUE = re.compile(
    rf"((?:{_NAME}|(?<!(?i:public))(?<!(?i:public)[_-])(?i:key|auth)){_OPEN}\s*[:=]\s*{_OPEN})"
    r"([\w+/=~-]{20,})"
)
_BLOCK = re.compile(
    rf"(?m)^([ \t]*)((?:- )?[\w.-]{{0,60}}?{_NAME}[\"']?:[ \t]*[|>][+-]?\d?[ \t]*\n)"
    r"((?:\1[ \t]+[^\n]*(?:\n|\Z)|[ \t]*\n)+)"
)
_LIST = re.compile(
    rf"(?m)^([ \t]*(?:- )?[\w.-]{{0,60}}?{_NAME}[\"']?:[ \t]*\n)"
    r"((?:[ \t]*-[ \t]+[^\s:]+[ \t]*(?:\n|\Z))+)"
)
_PARTS_OF_NAMES = (
    *("pass", "pwd", "secret", "token", "cred", "key", "auth", "cookie", "webhook", "bearer"),
    *("basic", "dockerconfig"),
)
"""A text without any of them has no value with the name of a secret."""
_PAIR_NAMES = r"(?:name|key|ParameterKey)"
_PAIR_VALUES = r"(?:value|ParameterValue)"
_PAIR = re.compile(
    rf"((?i:\b{_PAIR_NAMES}){_OPEN}\s*[:=]\s*{_OPEN}[\w.-]{{0,60}}?{_NAME}{_OPEN}[,;]?\s*{_OPEN}"
    rf"(?i:\b{_PAIR_VALUES}){_OPEN}\s*[:=]\s*)({_QUOTED}|{_BARE})"
)
"""An entry such as `{"name": "DB_PASSWORD", "value": "…"}` of Kubernetes, Batch and ECS."""
_TURNED_PAIR = re.compile(
    rf"((?i:\b{_PAIR_VALUES}){_OPEN}\s*[:=]\s*)({_QUOTED}|{_BARE})"
    rf"(?=[,;]?\s*{_OPEN}(?i:{_PAIR_NAMES}){_OPEN}\s*[:=]\s*{_OPEN}[\w.-]{{0,60}}?{_NAME}"
    rf"(?:{_OPEN}\s*[,;}}\n]|\s*$))"
)
_FLAG = re.compile(
    rf"((?<![\w-])--?(?=[A-Za-z])[\w.-]{{0,60}}?(?:{_NAME}|(?i:[_-]key))"
    r"(?:[ \t]+|=|[\\\"']+\s*,?\s*[\\\"']*))"
    rf"(?!-)({_QUOTED}|{_BARE})"
)
"""`--wandb-key …`, also as two elements of a list."""
_PROSE = frozenset(
    [
        "and",
        "are",
        "can",
        "cannot",
        "has",
        "have",
        "is",
        "may",
        "must",
        "needs",
        "of",
        "option",
        "or",
        "to",
        "was",
        "with",
    ]
)
"""What follows the name of an option in a sentence."""
_BEGIN_OF_LINES = re.compile(r"[|>][+-]?\d?|-")
"""What precedes the lines of a value of YAML."""
_RESULT = re.compile(r"(?i)(?<![\w.-])pass:\s*$")
"""`PASS: all ranks`, a result."""
_HEADER = re.compile(
    r"(?i)(\b(?:proxy-)?authorization[\\\"']*\s*[:=,]\s*[\\\"']*"
    r"(?:bearer|basic|token|negotiate|digest|apikey|splunk|key)\s+)([^\s\"'<\\]+)"
)
_BEARER = re.compile(r"(?i)(\bbearer\s+)([\w.~+/=-]{16,})")
_BASIC = re.compile(
    r"(\b(?i:basic)\s+|\bauth[\\\"']+\s*:\s*[\\\"']+)([A-Za-z0-9+/]{6,}={0,2})(?![\w+/=])"
)
_COOKIE = re.compile(r"(?i)(\b(?:set-)?cookie[\\\"']*\s*:\s*)([^\"'\n<]+)")
_LOGIN = re.compile(
    r"(\b(?:(?:docker|podman|nerdctl|helm|helm registry|oras|crane|skopeo|buildah|az|oc) login"
    r"|sshpass|mysql\w*|mariadb\w*)\b[^\n;|&]{0,200}?\s-p[ =]?)"
    r"(\"[^\"\n]+\"|'[^'\n]+'|[^\s\"'-][^\s\"']*)"
    r"|(\b(?:curl|wget|http)\b[^\n;|&]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']*:)([^\s\"']+)"
    r"|(\bredis-cli\b[^\n;|&]{0,200}?\s-a[ =]?)([^\s\"']+)"
    r"|(\bwandb login\b(?:\s+--?[\w=-]+)*\s+)([A-Za-z0-9_]{20,})"
    r"|(\bmachine\s+\S+\s+login\s+\S+\s+password\s+)(\S+)"
)
"""Commands with a password, and a line of `.netrc`."""
_WORD = re.compile(r"(?<![A-Za-z0-9/+=_.:-])[A-Za-z0-9/+]{40}={0,2}(?![A-Za-z0-9/+=_.-])")
_NGC = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9+/]{84}(?![A-Za-z0-9/+=])")
_LEAST_TURNS = 16
"""How often the kind of character changes in a secret access key: about 25 times in 40 random
characters of Base64, less than half as often in a path."""
_LEAST_DIGITS = 3
_DENSE = re.compile(r"[\w.~+/=-]{16,}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REFERENCE = re.compile(
    r"arn:aws[a-z-]*:\S*"
    r"|\$[A-Z_][A-Z0-9_]*|\$\{[^}]*\}?|\$\(.*|\$\{\{.*|\{\{.*|<[\w ./-]+>|%[A-Z_]+%"
    r"|\*+|…|\[.*(?:secret|redacted|left out).*\]?"
    r"|(?:/[a-z0-9_.-]+){2,}/?"
    # A place of `run --secret`, also with the name of its variable.
    r"|(?:[A-Z_][A-Z0-9_]*=)?(?:secret/[\w.-]+/[\w.-]+|~(?:/[\w.-]+)+)"
    r"|[A-Z_][A-Z0-9_]*=(?:(?:/[\w.-]+)+|arn:aws[a-z-]*:\S*)"
    r"|(?i:true|false|null|none|yes|no|on|off)"
)
"""Values that stand for a secret, or say where it is: `$DB_PASS`, an ARN, a path."""


def without_secrets(text: str) -> str:
    """Return a text with `HIDDEN` in place of everything that looks like a secret."""
    found = _WHOLE.sub(HIDDEN, text)
    found = _IN_ADDRESS.sub(HIDDEN, found)
    found = _SIGNED.sub(rf"\g<1>{HIDDEN}", found)
    found = _LOGIN.sub(_hidden_in_command, found)
    found = _without_named(found) if _has_name(found) else found
    found = _WORD.sub(lambda word: HIDDEN if _is_random(word[0]) else word[0], found)
    return _NGC.sub(lambda word: HIDDEN if _is_ngc_key(word[0]) else word[0], found)


def looks_secret(text: str) -> bool:
    """Return whether a text contains what looks like a secret."""
    return without_secrets(text) != text


def is_private_key(text: str) -> bool:
    """Return whether a text contains a private key in one of the forms of OpenSSH and PEM."""
    found = _WHOLE.search(text)
    return found is not None and found[0].startswith(("-----BEGIN", "b3Blbn", "LS0tLS", "PuTTY"))


def is_secret_name(name: str) -> bool:
    """Return whether values with this name are secrets, whatever they look like."""
    return _SECRET_NAME.search(name) is not None


def is_secret_value(name: str, value: str | float) -> bool:
    """Return whether a value with this name is a secret for its name.

    A reference such as an ARN is none, and nor is a number of tokens.
    """
    if is_secret_name(name):
        counted = _COUNTED_NAME.search(name) is not None and _is_number(str(value))
        return not (counted or _REFERENCE.fullmatch(str(value)) or value == "")
    text = str(value)
    return _KEY_NAME.search(name) is not None and (_is_dense(text) or _is_basic(text))


def _without_named(text: str) -> str:
    """Return a text without the values that are secrets for their names."""
    found = text
    for each in (_BLOCK, _LIST):
        found = each.sub(_hidden_lines, found)
    for each in (_PAIR, _TURNED_PAIR, _FLAG):
        found = each.sub(_hidden_value, found)
    lines = found.split("\n")
    return "\n".join(_without_named_in_line(line) if _has_name(line) else line for line in lines)


def _has_name(text: str) -> bool:
    small = text.lower()
    return any(each in small for each in _PARTS_OF_NAMES)


def _without_named_in_line(line: str) -> str:
    found = _HEADER.sub(_hidden_value, line)
    found = _BEARER.sub(_hidden_if_random, found)
    found = _BASIC.sub(_hidden_if_basic, found)
    for each in (_COOKIE, _ASSIGNED, _LINE, _QUOTED_LINE, _STRICT_VALUE, _KEY_VALUE):
        found = each.sub(_hidden_value, found)
    return _RANDOM_VALUE.sub(_hidden_if_random, found)


def _hidden_value(found: re.Match[str]) -> str:
    before, value = found[1], found[2]
    quote = re.match(r"\\*[\"']", value)
    opened = quote[0] if quote else ""
    plain = value.removeprefix(opened).removesuffix(opened) if opened else value
    counted = _COUNTED_NAME.search(_name_in(before)) is not None and _is_number(plain)
    if HIDDEN in value or counted or _REFERENCE.fullmatch(plain):
        return found[0]
    if not opened and (plain in _PROSE or _BEGIN_OF_LINES.fullmatch(plain)):
        return found[0]
    if not opened and _RESULT.search(before):
        return found[0]
    return f"{before}{opened}{HIDDEN}{opened}"


def _name_in(before: str) -> str:
    """Return the name in what precedes a value."""
    return re.sub(r"[^\w]+$", "", before)


def _hidden_lines(found: re.Match[str]) -> str:
    """Hide the lines below a key; the last group of the pattern has them."""
    lines = found[found.re.groups]
    indented = re.match(r"[ \t]*(?:-[ \t]+)?", lines)
    end = "\n" if lines.endswith("\n") else ""
    return f"{found[0].removesuffix(lines)}{indented[0] if indented else ''}{HIDDEN}{end}"


def _hidden_if_random(found: re.Match[str]) -> str:
    return f"{found[1]}{HIDDEN}" if _is_dense(found[2]) else found[0]


def _hidden_if_basic(found: re.Match[str]) -> str:
    return f"{found[1]}{HIDDEN}" if _is_basic(found[2]) else found[0]


def _is_basic(word: str) -> bool:
    """Return whether a word is Base64 of a user and a password."""
    try:
        return ":" in base64.b64decode(word, validate=True).decode()
    except (binascii.Error, ValueError):
        return False


def _hidden_in_command(found: re.Match[str]) -> str:
    (before, value), *_ = (
        found.group(at, at + 1) for at in range(1, found.re.groups, 2) if found[at] is not None
    )
    numbers = before.endswith(":") and value.isdigit()  # a user and a group
    return (
        found[0]
        if HIDDEN in value or numbers or _REFERENCE.fullmatch(value)
        else (f"{before}{HIDDEN}")
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(?:\.\d+)?", text) is not None


def _is_dense(word: str) -> bool:
    """Return whether a word has so many digits between letters that nobody has written it."""
    if _REFERENCE.fullmatch(word) or _UUID.fullmatch(word) or not _DENSE.fullmatch(word):
        return False
    digits = sum(each.isdigit() for each in word)
    return digits >= _LEAST_DIGITS and any(each.isalpha() for each in word)


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
