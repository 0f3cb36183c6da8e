"""Addresses of scripts: web pages about a file, and objects in S3 that nodes may read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from urllib.parse import parse_qs, urlsplit

from trainyard.components.config.parallelcluster_nodes import S3Access
from trainyard.components.config.storage_fields import s3_parts

_PAGES = (
    # https://docs.github.com/en/repositories/working-with-files/using-files/viewing-and-understanding-files
    (
        r"https://(?:www\.)?github\.com/([^/]+/[^/]+)/blob/(.+)",
        r"https://raw.githubusercontent.com/\1/\2",
    ),
    # https://docs.github.com/en/get-started/writing-on-github/editing-and-sharing-content-with-gists
    (r"https://gist\.github\.com/([^/]+/[0-9a-f]+)", r"https://gist.githubusercontent.com/\1/raw"),
    # https://docs.gitlab.com/user/project/repository/files/
    (r"https://gitlab\.com/(.+)/-/blob/(.+)", r"https://gitlab.com/\1/-/raw/\2"),
    (r"https://bitbucket\.org/([^/]+/[^/]+)/src/(.+)", r"https://bitbucket.org/\1/raw/\2"),
)
"""Pages that show a file, and the address of the file itself."""
_OTHER_PAGES = re.compile(
    r"https://(?:www\.)?(?:github|gitlab)\.com/[^/]+(?:/[^/]+)?/?"
    r"|https://(?:www\.)?github\.com/[^/]+/[^/]+/(?:tree|wiki|issues|pull)(?:/.*)?"
    r"|https://gitlab\.com/.+/-/tree/.*"
)
"""Pages about no single file."""
_CONSOLE = re.compile(r"https://(?:[a-z0-9-]+\.)*console\.aws\.amazon\.com/s3/object/([^/?]+)")


def file_address(address: str) -> str | None:
    """Return the address of the file that a web page shows; None for another address."""
    parts = urlsplit(address)
    query = parse_qs(parts.query)
    console = _CONSOLE.match(address)
    if console:
        prefix = query.get("prefix", [""])[0]
        return f"s3://{console[1]}/{prefix}" if prefix else None
    if "raw" in query:  # GitHub and GitLab answer with the file
        return None
    page = f"{parts.scheme}://{parts.netloc}{parts.path}"
    for pattern, file in _PAGES:
        found = re.fullmatch(pattern, page)
        if found:
            return found.expand(file)
    return None


def is_web_page(address: str) -> bool:
    """Return whether an address is that of a page for people, not of a file."""
    page = address.partition("?")[0].partition("#")[0]
    found = file_address(address) is not None or _CONSOLE.match(address) is not None
    return found or _OTHER_PAGES.fullmatch(page) is not None


def bucket_of(address: str) -> str | None:
    """Return the bucket of an object in S3; None for another address."""
    bucket, key = s3_parts(address) or ("", "")
    return bucket if key else None


def may_read(address: str, access: Iterable[S3Access], policies: Iterable[str]) -> bool:
    """Return whether the role of nodes can allow them to read an object.

    `S3Access` entries become a policy of the role, for the whole bucket without `KeyName`:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html#yaml-HeadNode-Iam-S3Access
    What a managed policy allows is not known here, except that those of other services have
    other names.
    """
    bucket, key = s3_parts(address) or ("", "")
    if not key or bucket.endswith("-aws-parallelcluster"):  # ParallelCluster's own
        return True
    if any("S3" in name or "Administrator" in name or "PowerUser" in name for name in policies):
        return True
    return any(
        each.bucket == bucket and (each.key is None or fnmatchcase(key, each.key))
        for each in access
    )
