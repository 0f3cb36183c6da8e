"""References to container images: `[REGISTRY/]PATH[:TAG][@DIGEST]`, or a squashfs file of Enroot.

`parsed` is the only parser: stack files, job files, options, add-ons and look-ups ask it. It reads
the spelling of container runtimes and that of Enroot, `[USER@][REGISTRY#]PATH[:TAG]`, as the same
image, so that a reference works with every scheduler.

Sources:
    https://github.com/distribution/reference at 0965666a, reference.go and regexp.go (the grammar;
        a path has at most 255 characters) and normalize.go (`ParseNormalizedNamed`: which first
        part is a registry, `docker.io/library/`, no capitals in a path, no 64 hexadecimal digits).
        containerd, the kubelet and Docker parse with it.
    https://github.com/opencontainers/image-spec, descriptor.md, "Registered algorithms": sha256 and
        sha512 in lowercase; https://github.com/opencontainers/go-digest, algorithm.go: sha384 too
    https://github.com/NVIDIA/enroot at 8ea147d3, doc/cmd/import.md (`docker://`, `dockerd://`,
        `podman://`) and src/docker.sh (`_parse_uri`, Docker Hub's other names)
    https://github.com/NVIDIA/pyxis at 10751994, pyxis_slurmstepd.c: an image that begins with `.`
        or `/` is the path of a squashfs file, any other is `docker://` for Enroot
    https://github.com/containers/image, docs/containers-transports.5.md (`docker-daemon:`)
    https://github.com/moby/moby, pkg/stringid: `docker images` shows 12 digits of an id
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
    (`ACCOUNT.dkr.ecr.REGION.amazonaws.com`)
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-requests.html (dual-stack:
    `ACCOUNT.dkr-ecr.REGION.on.aws`)
    https://docs.aws.amazon.com/general/latest/gr/ecr.html (`ecr-fips`)
    https://docs.aws.amazon.com/accounts/latest/reference/manage-acct-identifiers.html: an account
    id has 12 digits
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html: endpoints serve the
    registries of their own region only
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/replication.html
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trainyard.components.catalog.regions import can_be_region, nearest_region
from trainyard.components.naming import dns_suffix, partition

DOCKER_HUB = "docker.io"
_DOCKER_HUB_NAMES = (DOCKER_HUB, "index.docker.io", "registry-1.docker.io")
_OFFICIAL = "library/"
LONGEST_PATH = 255
EXAMPLE = "nvcr.io/nvidia/pytorch:25.01-py3"

PATH_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
"""Pattern of one part of the path of an image, and of a repository."""
_PATH = rf"{PATH_PART}(?:/{PATH_PART})*"
_HOST_PART = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_REGISTRY = rf"(?:{_HOST_PART}(?:\.{_HOST_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = r"(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})"
PATTERN = rf"(?:docker://)?(?:{_REGISTRY}[/#])?{_PATH}(?::{_TAG})?(?:@{_DIGEST})?"
"""Pattern of references to images in registries, for editors of stack files."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_DAEMONS = ("dockerd", "podman")
_TRANSPORT = re.compile(r"(?:docker-daemon|containers-storage):.*[:/@].*")
_ID = re.compile(r"(?:sha256:)?[0-9a-f]{64}|[0-9a-f]{12}")
"""What `docker images` shows as the id of an image."""
_SQUASHFS = (".sqsh", ".squashfs", ".sqfs")
_ARCHIVES = (".sif", ".tar", ".tar.gz", ".tgz")
_USER = re.compile(r"([A-Za-z0-9_.!~*'()%;:&=+$,-]+)@(.*[/#].*)")
"""A user, and an image of which it is not a digest."""


class ImageReferenceError(ValueError):
    """A text is no reference to an image that nodes can have.

    The message has the reason and the fix.
    """

    def __init__(self, why: str, fix: str, *, meant: str = "") -> None:
        super().__init__(f"{why}; {fix}")
        self.why = why
        """What is wrong, after "the image TEXT"."""
        self.fix = fix
        self.meant = meant
        """The reference that was probably meant; empty if that is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReference:
    """An image in a registry."""

    registry: str
    """Such as `public.ecr.aws`, `localhost:5000`, or `docker.io` for Docker Hub."""
    path: str
    """The repository, without the registry; official images of Docker Hub are in `library/`."""
    tag: str | None = None
    digest: str | None = None
    user: str | None = None
    """User of the registry, in the spelling of Enroot."""
    written: str = field(default="", compare=False)
    """The text that was parsed."""

    @property
    def reference(self) -> str:
        """The digest, or the tag, which is `latest` by default."""
        return self.digest or self.tag or "latest"

    @property
    def name(self) -> str:
        """The reference as container runtimes parse it; as it was written if they can."""
        if self.written and not self.user and not re.search("#|://", self.written):
            return self.written
        tag = f":{self.tag}" if self.tag else ""
        digest = f"@{self.digest}" if self.digest else ""
        return f"{self.registry}/{self.path}{tag}{digest}"

    @property
    def enroot_name(self) -> str:
        """The reference as every version of Enroot parses it after `docker://`.

        Versions before 4.0 take a registry only before `#`; none has Docker Hub under the name
        `docker.io` there. With a digest, Enroot ignores the tag.
        """
        is_hub = self.registry == DOCKER_HUB
        registry = "" if is_hub else f"{self.registry}#"
        path = self.path.removeprefix(_OFFICIAL) if is_hub else self.path
        user = f"{self.user}@" if self.user else ""
        tag = f":{self.tag}" if self.tag else ""
        return f"{user}{registry}{path}{f'@{self.digest}' if self.digest else tag}"


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A squashfs file of Enroot, on the file systems of the nodes."""

    path: str
    """Absolute; or relative to the home directory, beginning with `./` or `~/`."""


def parsed(text: str) -> ImageReference | ImageFile:
    """Return the parts of a reference to an image, as container runtimes complete it.

    Raises:
        ImageReferenceError: it is none, or one of an image that only one machine has.
    """
    _refuse_blanks(text)
    scheme = _SCHEME.fullmatch(text)
    if scheme is not None and scheme[1].lower() == "docker" and "://" not in scheme[2]:
        found = parsed(scheme[2])
        return replace(found, written=text) if isinstance(found, ImageReference) else found
    if scheme is not None or _TRANSPORT.fullmatch(text):
        raise _wrong_scheme(text, scheme)
    if _ID.fullmatch(text):
        raise ImageReferenceError(
            "is the id of an image of the daemon of one machine, which the nodes do not have",
            _PUSH,
        )
    if text.startswith((".", "/", "~")) or text.lower().endswith(_SQUASHFS + _ARCHIVES):
        return _file(text)
    return _of_registry(text)


def in_registry(text: str, *, starts: str) -> ImageReference:
    """Return the parts of a reference to an image that a container runtime pulls.

    Args:
        text: The reference.
        starts: What starts the container, such as `EKS`, for the message.

    Raises:
        ImageReferenceError: also for a squashfs file, and for a user of Enroot.
    """
    is_name = text.lower().endswith(_SQUASHFS) and not re.search(r"\s|://", text)
    found = ImageFile(text) if is_name else parsed(text)
    if isinstance(found, ImageFile):
        raise ImageReferenceError(
            f"is a squashfs file, which only Enroot on a Slurm cluster starts: {starts} pulls "
            "images from a registry",
            _PUSH,
        )
    if found.user:
        raise ImageReferenceError(
            f"names the user {found.user}, which only Enroot knows: {starts} has other credentials "
            "for registries",
            f"write {found.name}",
            meant=found.name,
        )
    return found


_ECR_EXAMPLE = "123456789012.dkr.ecr.us-west-2.amazonaws.com"
_PUSH = f"push the image to a registry, and write REGISTRY/PATH:TAG, such as {EXAMPLE}"


def _refuse_blanks(text: str) -> None:
    if not text.strip():
        raise ImageReferenceError("is empty", f"write REGISTRY/PATH:TAG, such as {EXAMPLE}")
    if re.search(r"\s", text) or not text.isprintable():
        rest = text.strip()
        known = rest if rest != text and _is_valid(rest) else ""
        raise ImageReferenceError(
            "contains a blank or an invisible character",
            f"write {known}" if known else f"write REGISTRY/PATH:TAG, such as {EXAMPLE}",
            meant=known,
        )


def _is_valid(text: str) -> bool:
    if "://" in text:
        return False
    try:
        parsed(text)
    except ImageReferenceError:
        return False
    return True


def _wrong_scheme(text: str, scheme: re.Match[str] | None) -> ImageReferenceError:
    """Return why a URL is no image."""
    if scheme is None or scheme[1].lower() in _DAEMONS:
        return ImageReferenceError(
            "is an image of a daemon of one machine, which the nodes do not have", _PUSH
        )
    rest = scheme[2]
    meant = rest if _is_valid(rest) else ""
    fix = f"write {meant}" if meant else f"write REGISTRY/PATH:TAG, such as {EXAMPLE}"
    return ImageReferenceError(f"is a URL ({scheme[1]}://)", fix, meant=meant)


def _file(text: str) -> ImageFile:
    """Return a squashfs file.

    Raises:
        ImageReferenceError: it is another file, or Pyxis would take its name for an image.
    """
    if text.lower().endswith(_ARCHIVES):
        raise ImageReferenceError(
            "is an archive, and Enroot starts squashfs files only",
            f"{_PUSH}, or make a file with `enroot import -o FILE.sqsh docker://REGISTRY#PATH:TAG`",
        )
    if not text.startswith((".", "/", "~")):
        raise ImageReferenceError(
            "is the name of a squashfs file, but without a path it means an image of Docker Hub",
            f"on Slurm, write its path on the cluster: ./{text} in the home directory, or an "
            "absolute one on shared storage; other schedulers pull images from registries only",
            meant=f"./{text}",
        )
    parts = text.split("/")
    if not text.startswith(("./", "/", "~/")) or ".." in parts or parts[-1] in ("", "."):
        raise ImageReferenceError(
            "is not the path of a squashfs file",
            "write an absolute path on shared storage, or one below the home directory that begins "
            "with ./",
        )
    return ImageFile(text)


def _of_registry(text: str) -> ImageReference:
    """Return the parts of a reference to an image in a registry.

    Raises:
        ImageReferenceError: it is none; the message says which part is wrong.
    """
    user, rest = _without_user(text)
    if "#" in rest:
        registry, _, remainder = rest.partition("#")
        separator = "#"
    else:
        registry, remainder = _split_registry(rest)
        separator = "/"
    if registry and re.fullmatch(_REGISTRY, registry, re.ASCII) is None:
        raise ImageReferenceError(
            f"has {registry!r} as its registry, which is no host name with an optional port",
            f"write REGISTRY/PATH:TAG, such as {EXAMPLE}",
        )
    fault = ecr_fault(registry)
    if fault is not None:
        why, host = fault
        meant = f"{f'{user}@' if user else ''}{host}{separator}{remainder}" if host else ""
        raise ImageReferenceError(
            why,
            f"write {meant}" if meant else f"write {_ECR_EXAMPLE}/PATH:TAG, with your account",
            meant=meant,
        )
    name, at, digest = remainder.partition("@")
    path, colon, tag = name.partition(":")
    before = f"{f'{user}@' if user else ''}{f'{registry}{separator}' if registry else ''}"
    after = f"{colon}{tag}{at}{digest}"
    _check_path(path, lambda meant: f"{before}{meant}{after}")
    _check_end(name if colon else "", tag, digest if at else None)
    if not registry or registry in _DOCKER_HUB_NAMES:
        registry, path = DOCKER_HUB, path if "/" in path else f"{_OFFICIAL}{path}"
    if len(path) > LONGEST_PATH:
        raise ImageReferenceError(
            f"has a path of {len(path)} characters, and registries have at most {LONGEST_PATH}",
            "rename the repository",
        )
    return ImageReference(
        registry=registry,
        path=path,
        tag=tag or None,
        digest=digest or None,
        user=user or None,
        written=text,
    )


def _without_user(text: str) -> tuple[str, str]:
    found = _USER.fullmatch(text)
    return (found[1], found[2]) if found else ("", text)


def _split_registry(text: str) -> tuple[str, str]:
    """Return the registry, empty for Docker Hub, and the remainder: `splitDockerDomain`."""
    first, slash, rest = text.partition("/")
    if slash and (first == "localhost" or re.search(r"[.:]", first)):
        return first, rest
    # With a capital, container runtimes take the first part for a host name, which no registry has:
    # one without a dot and a port.
    return "", text


def _check_path(path: str, whole: Callable[[str], str]) -> None:
    """Refuse a wrong path.

    Args:
        path: The path.
        whole: Returns the reference with another path.

    Raises:
        ImageReferenceError: the path is wrong.
    """
    if re.fullmatch(_PATH, path, re.ASCII):
        return
    small = path.lower()
    if small != path and re.fullmatch(_PATH, small, re.ASCII):
        raise ImageReferenceError(
            f"has capitals in its path {path}, which registries do not allow",
            f"write {whole(small)}",
            meant=whole(small),
        )
    raise ImageReferenceError(
        f"has the path {path!r}, which is not small letters and digits with single `.`, `_` or "
        "`/`, `__` or hyphens between them",
        f"write REGISTRY/PATH:TAG, such as {EXAMPLE}",
    )


def _check_end(tagged: str, tag: str, digest: str | None) -> None:
    """Refuse a wrong tag or digest.

    Args:
        tagged: The reference with its tag; empty without one.
        tag: The tag.
        digest: The digest; None without one.

    Raises:
        ImageReferenceError: one is wrong.
    """
    if tagged and re.fullmatch(_TAG, tag, re.ASCII) is None:
        raise ImageReferenceError(
            f"has the tag {tag!r}, which is not at most 128 letters, digits, `_`, `.` and `-` that "
            "begin with no `.` or `-`",
            "write a tag after the colon, or remove the colon",
        )
    if digest is not None and re.fullmatch(_DIGEST, digest, re.ASCII) is None:
        raise ImageReferenceError(
            f"has {digest!r} after `@`, which is no digest: `sha256:` and 64 hexadecimal digits in "
            "small letters",
            "write the digest that the registry shows, or a tag after a colon",
        )


# Hosts of private ECR registries, which have an account, a region and the suffix of a partition.


_ECR_HOST = re.compile(
    r"(?:(?P<account>[^.]*)\.)?dkr(?P<separator>[.-])ecr(?P<fips>-fips)?"
    r"\.(?P<region>[A-Za-z0-9_-]+)\.(?P<suffix>[A-Za-z0-9.-]+?)(?::\d+)?",
    re.IGNORECASE,
)
_DUAL_STACK = {"aws-cn": "on.amazonwebservices.com.cn"}
EXAMPLE_ACCOUNTS = frozenset(
    {"111122223333", "123456789012", "444455556666", "777788889999", "999988887777"}
)
"""Account ids of AWS's documentation, which are copied from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EcrRegistry:
    """The parts of the host of a private registry, as they are written."""

    account: str
    region: str
    suffix: str
    separator: str
    """`.`, or `-` of a dual-stack host."""
    fips: str = ""

    @property
    def right_suffix(self) -> str:
        """The DNS suffix of the hosts of its region."""
        if self.separator == "-":
            return _DUAL_STACK.get(partition(self.region), "on.aws")
        return dns_suffix(self.region)

    def host(self, *, account: str = "", region: str = "") -> str:
        """Return the host with its right suffix, and with another account or region."""
        place = region or self.region
        there = EcrRegistry(
            account=account or self.account, region=place, suffix="", separator=self.separator
        )
        endpoint = f"dkr{self.separator}ecr{self.fips}"
        return f"{there.account}.{endpoint}.{place}.{there.right_suffix}"


def ecr_registry(host: str) -> EcrRegistry | None:
    """Return the parts of the host of a private registry; None for any other host."""
    found = _ECR_HOST.fullmatch(host)
    if found is None:
        return None
    return EcrRegistry(
        account=found["account"] or "",
        region=found["region"],
        suffix=found["suffix"],
        separator=found["separator"],
        fips=found["fips"] or "",
    )


def ecr_fault(host: str) -> tuple[str, str] | None:
    """Return why no registry of ECR has a host, and the host that is meant or empty; else None."""
    found = ecr_registry(host)
    if found is None:
        return None
    if not can_be_region(found.region):
        near = nearest_region(found.region)
        meant = found.host(region=near) if near and _is_account(found.account) else ""
        return f"names the region {found.region!r} of ECR, which does not exist", meant
    if not _is_account(found.account):
        said = found.account or "nothing"
        return f"names the account {said!r} of ECR, and account ids are 12 digits", ""
    if found.suffix.lower() != found.right_suffix:
        return (
            f"has the domain {found.suffix}, and ECR in {found.region} is at {found.right_suffix}",
            found.host(),
        )
    return None


def _is_account(text: str) -> bool:
    """Return whether a text can be an account id; no account has an id of one digit only."""
    return re.fullmatch(r"\d{12}", text, re.ASCII) is not None and len(set(text)) > 1
