"""Stacks that `init` designs from options, with the account of the sandbox as a listing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import yaml

from tests.support.account import NOW, listing
from trainyard.init.account_listing import AccountListing
from trainyard.init.conflicts import account_conflicts, option_conflicts
from trainyard.init.design import InitRequest, StackDesign
from trainyard.init.document import stack_file_text
from trainyard.init.question import Defaults
from trainyard.init.resolving import Resolver, resolve_kind

NETWORKS = ("203.0.113.0/24",)


def request(**given: Any) -> InitRequest:
    """Return the options of `init prod-a`, without the networks of an EKS cluster."""
    return replace(InitRequest(name="prod-a", region="us-west-2"), **given)


def conflicts(account: AccountListing | None = None, **given: Any) -> list[tuple[str, str]]:
    """Return option and problem of each contradiction, with and without the account."""
    asked = request(**given)
    found = option_conflicts(asked)
    found += account_conflicts(asked, asked.kind or "eks", account or listing(), NOW)
    return [(each.path, each.problem) for each in found]


def missing(account: AccountListing | None, **given: Any) -> list[str]:
    """Return the options that are missing without a terminal."""
    defaults = Defaults()
    asked = resolve_kind(request(**given), defaults)
    Resolver(asked, account, NOW, defaults).design()
    return [each.path for each in defaults.missing]


def design(account: AccountListing | None = None, **given: Any) -> StackDesign:
    """Return the design from options that leave nothing open but the networks of the API."""
    defaults = Defaults()
    asked = resolve_kind(request(**given), defaults)
    if asked.kind == "eks" and not asked.api_networks:
        asked = replace(asked, api_networks=NETWORKS)
    found = Resolver(asked, account or listing(), NOW, defaults).design()
    assert defaults.missing == []
    return found


def text(**given: Any) -> str:
    """Return the text of the stack file for options."""
    return stack_file_text(design(**given), command="./trainyard init prod-a")


def cluster(**given: Any) -> dict[str, Any]:
    """Return `trainyard:cluster` of the stack file for options."""
    return yaml.safe_load(text(**given))["config"]["trainyard:cluster"]
