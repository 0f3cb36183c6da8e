"""Checks that EKS offers the versions of the add-ons that it installs in the cluster.

These are the versions in the stack file, and those that the program pins for the Kubernetes
version. EKS withdraws builds of add-ons, so a pinned version can be gone when the program is older.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddonVersions.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.components.account.facts import AccountFacts, AddonOffer
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.readings import Reading
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.components.checks.check import Subject
from trainyard.components.config.eks_addons import AddonName
from trainyard.components.config.eks_stack import EksStackConfig
from trainyard.components.config.problems import ROOT, Problem, remove_command, set_command
from trainyard.components.eks.addons.eks_managed import (
    ALWAYS_INSTALLED,
    EKS_ADDONS,
    installed_versions,
)

CALL = "eks:DescribeAddonVersions"
KEY = "architecture.addons.versions"
_MOST_LISTED = 8
_UPDATE_PROGRAM = "update trainyard, which pins other versions"


def checked_versions(config: EksStackConfig) -> Mapping[AddonName, str]:
    """Return the versions that are installed, and the others that the stack file names."""
    pins = EKS_VERSIONS.get(config.architecture.kubernetes_version)
    installed = {} if pins is None else installed_versions(config, pins)
    return {**installed, **config.architecture.addons.versions}


def addon_offer_readings(reader: AccountReader, config: EksStackConfig) -> Iterator[Reading]:
    """Yield a reading of the versions that EKS offers of each add-on."""
    version = config.architecture.kubernetes_version
    for addon in checked_versions(config):
        yield lambda addon=addon: {"addon_offers": {addon: look_up_offer(reader, addon, version)}}


def look_up_offer(reader: AccountReader, addon: str, kubernetes_version: str) -> AddonOffer:
    """Return the versions of an add-on that EKS offers for a Kubernetes version."""
    versions: list[str] = []
    default: str | None = None
    pages = reader.pages(
        CALL,
        reader.eks.describe_addon_versions,
        addonName=addon,
        kubernetesVersion=kubernetes_version,
    )
    for answer in pages:
        for found in answer.get("addons", []):
            for offered in found["addonVersions"]:
                versions.append(offered["addonVersion"])
                if any(
                    fit.get("defaultVersion") and fit.get("clusterVersion") == kubernetes_version
                    for fit in offered["compatibilities"]
                ):
                    default = offered["addonVersion"]
    return AddonOffer(versions=tuple(versions), default=default)


def addon_version_subjects(config: EksStackConfig) -> Iterator[Subject]:
    """Yield what `addon_version_problems` checks."""
    given = config.architecture.addons.versions
    for name, version in checked_versions(config).items():
        key = f"{KEY}.{name}"
        found = version if name in given else f"{version}, which the program pins"
        yield Subject(key, "EKS offers the version", found, (CALL,))


def addon_version_problems(
    config: EksStackConfig, facts: AccountFacts, *, stack_file: str
) -> Iterator[Problem]:
    """Yield the versions that EKS does not offer and would have to install."""
    for addon, version, offer in _not_offered(config, facts):
        if not _has_it(facts, addon, version):
            yield _problem(config, addon, version, offer, stack_file)


def addon_version_warnings(config: EksStackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield versions that the cluster has and EKS no longer offers, and add-ons without a default.

    The cluster keeps an add-on that does not change. EKS has a default version of an add-on for
    each Kubernetes version that the add-on is ready for.
    """
    kubernetes_version = config.architecture.kubernetes_version
    for addon, version, offer in _not_offered(config, facts):
        if _has_it(facts, addon, version):
            yield (
                f"{KEY}.{addon}: EKS no longer offers {version} for Kubernetes "
                f"{kubernetes_version}; the cluster keeps it. To change it, set the key to one of "
                f"{_listed(offer)}, or {_UPDATE_PROGRAM}"
            )
    for addon, offer in facts.addon_offers.items():
        if offer.versions and offer.default is None:
            yield (
                f"{KEY}.{addon}: EKS has no default version of the add-on for Kubernetes "
                f"{kubernetes_version} in this region; it may not be ready for that version"
            )


def _not_offered(
    config: EksStackConfig, facts: AccountFacts
) -> Iterator[tuple[AddonName, str, AddonOffer]]:
    if not facts.could_read(CALL):
        return
    for addon, version in checked_versions(config).items():
        offer = facts.addon_offers.get(addon)
        if offer is not None and version not in offer.versions:
            yield addon, version, offer


def _has_it(facts: AccountFacts, addon: AddonName, version: str) -> bool:
    """Return whether the existing cluster has the add-on in this version, so that it is kept."""
    return facts.cluster is not None and facts.cluster.addon_versions.get(addon) == version


def _problem(
    config: EksStackConfig, addon: AddonName, version: str, offer: AddonOffer, stack_file: str
) -> Problem:
    path, given = f"{ROOT}.{KEY}.{addon}", addon in config.architecture.addons.versions
    best = offer.default or next(iter(offer.versions), None)
    if best is None:
        remedy = _without(addon, stack_file)
    elif given:
        remedy = (
            "give one of these, or install the pinned version: "
            f"{remove_command(path, stack_file=stack_file)}"
        )
    else:
        remedy = f"{set_command(path, best, stack_file=stack_file)}, or {_UPDATE_PROGRAM}"
    pinned = "" if given else ", which the program pins,"
    return Problem(
        path=path,
        found=version,
        problem=(
            f"EKS does not offer this version of {addon}{pinned} for Kubernetes "
            f"{config.architecture.kubernetes_version} in this region"
        ),
        allowed=_listed(offer),
        remedy=remedy,
    )


def _without(addon: AddonName, stack_file: str) -> str:
    """Return how to do without an add-on that EKS does not offer at all."""
    if addon in ALWAYS_INSTALLED:
        path = f"{ROOT}.architecture.kubernetes_version"
        others = ", ".join(EKS_VERSIONS)
        return f"set `{path}` to another version of {others}, or {_UPDATE_PROGRAM}"
    (key,) = (each.key for each in EKS_ADDONS if each.name == addon)
    off = set_command(f"{ROOT}.architecture.addons.{key}", "false", stack_file=stack_file)
    return f"do without it and what needs it: {off}, or {_UPDATE_PROGRAM}"


def _listed(offer: AddonOffer) -> str:
    """Return the newest versions and the default version."""
    shown = list(offer.versions[:_MOST_LISTED])
    if offer.default is not None and offer.default not in shown:
        shown.append(offer.default)
    named = [
        f"{version} (the default)" if version == offer.default else version for version in shown
    ]
    more = len(offer.versions) - len(shown)
    return ", ".join(named) + (f" and {more} older" if more > 0 else "") or "none"
