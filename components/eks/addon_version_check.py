"""Checks that EKS offers the add-on versions in the stack file for its Kubernetes version.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddonVersions.html
"""

from __future__ import annotations

from collections.abc import Iterator

from components.account.facts import AccountFacts, AddonOffer
from components.account.lookup import AccountReader
from components.checks.check import Subject
from components.config.eks_stack import EksStackConfig
from components.config.problems import ROOT, Problem, remove_command

CALL = "eks:DescribeAddonVersions"
_MOST_LISTED = 8


def look_up_addon_offers(reader: AccountReader, config: EksStackConfig) -> dict[str, AddonOffer]:
    """Return the versions that EKS offers of each add-on with a version in the stack file."""
    architecture = config.architecture
    return {
        addon: _offer(reader, addon, architecture.kubernetes_version)
        for addon in architecture.addons.versions
    }


def addon_version_subjects(config: EksStackConfig) -> Iterator[Subject]:
    """Yield what `addon_version_problems` checks."""
    for name, version in config.architecture.addons.versions.items():
        key = f"architecture.addons.versions.{name}"
        yield Subject(key, "EKS offers the version", version, (CALL,))


def addon_version_problems(
    config: EksStackConfig, facts: AccountFacts, *, stack_file: str
) -> Iterator[Problem]:
    """Yield the versions in `addons.versions` that EKS does not offer for the cluster."""
    if not facts.could_read(CALL):
        return
    architecture = config.architecture
    for addon, version in architecture.addons.versions.items():
        offer = facts.addon_offers.get(addon)
        if offer is None or version in offer.versions:
            continue
        path = f"{ROOT}.architecture.addons.versions.{addon}"
        yield Problem(
            path=path,
            found=version,
            problem=(
                f"EKS does not offer this version of {addon} for Kubernetes "
                f"{architecture.kubernetes_version}"
            ),
            allowed=_listed(offer),
            remedy=(
                f"give one of these, or install the pinned version: "
                f"{remove_command(path, stack_file=stack_file)}"
            ),
        )


def _offer(reader: AccountReader, addon: str, kubernetes_version: str) -> AddonOffer:
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
                if any(fit.get("defaultVersion") for fit in offered["compatibilities"]):
                    default = offered["addonVersion"]
    return AddonOffer(versions=tuple(versions), default=default)


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
