"""From the options, the account and the answers of the user to the design of a stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from trainyard.init import offers
from trainyard.init.account_listing import AccountListing
from trainyard.init.api_access import ask_networks
from trainyard.init.conflicts import kind_of, operating_system
from trainyard.init.design import (
    KINDS,
    LUSTRE_RULE,
    NEW_VPC,
    InitRequest,
    Kind,
    NetworkDesign,
    PoolDesign,
    StackDesign,
    StorageDesign,
)
from trainyard.init.examples import Example, examples, fitting_example
from trainyard.init.question import Ask, Choice, Question
from trainyard.init.questions import CapacityQuestions, network_without_account, resolve_network

NONE = "none"
"""Answer for no file system or no key pair."""
_EXAMPLE = "example"
"""Answer for the file systems of the example."""
_LUSTRE = "new"
_LUSTRE_GIB = 1200


def resolve_kind(request: InitRequest, ask: Ask) -> InitRequest:
    """Return the options with a kind of stack; without an answer, an EKS cluster is assumed."""
    kind = kind_of(request)
    if not kind:
        choices = [Choice(name, facts.explanation) for name, facts in KINDS.items()]
        question = Question(
            option="--kind", text="What should the stack be?", choices=choices, suggested=("eks",)
        )
        kind = (ask(question) or ("eks",))[0]
    return replace(request, kind=kind)


@dataclass(slots=True)
class Resolver:
    """Completes the options of a stack, one question after the other."""

    request: InitRequest
    """Options with kind and region."""
    listing: AccountListing | None
    """The account; None without credentials."""
    now: datetime
    ask: Ask

    @property
    def kind(self) -> Kind:
        """The kind of the stack."""
        return cast("Kind", self.request.kind)

    def design(self) -> StackDesign:
        """Return the design of the stack; questions without an answer are left out."""
        example = examples().get(self.request.example)
        pools = self._pools(example)
        if self.listing is None:
            wanted = self._wanted_network(example, pools)
            base = example or fitting_example(self.kind, pools, network=wanted)
            network = network_without_account(self.request, base, pools, wanted)
        else:
            network, pools = resolve_network(
                self.request, self.kind, self.listing, self.ask, example, pools
            )
            base = example or fitting_example(self.kind, pools, network=network.kind)
        return StackDesign(
            name=self.request.name,
            example=base.stack,
            kind=self.kind,
            region=self.request.region,
            profile=self.request.profile,
            pools=tuple(pools),
            network=network,
            api_networks=self._api_networks(network),
            storage=self._storage(base, network, pools),
            key_pair=self._key_pair(base),
        )

    def _pools(self, example: Example | None) -> list[PoolDesign]:
        if not KINDS[self.kind].pools:
            return []
        questions = CapacityQuestions(self.request, self.kind, self.listing, self.now, self.ask)
        return questions.pools(example)

    def _api_networks(self, network: NetworkDesign) -> tuple[str, ...]:
        if not KINDS[self.kind].has_api:
            return ()
        return self.request.api_networks or ask_networks(network, self.ask)

    def _wanted_network(self, example: Example | None, pools: list[PoolDesign]) -> str:
        if self.request.vpc:
            return "new-vpc" if self.request.vpc == NEW_VPC else "existing-vpc"
        if example is not None:
            return example.network
        reserved = any(pool.reserved is not None for pool in pools)
        return "existing-vpc" if reserved else "new-vpc"

    def _storage(
        self, base: Example, network: NetworkDesign, pools: list[PoolDesign]
    ) -> StorageDesign | None:
        if not KINDS[self.kind].file_systems:
            return None
        if self.request.file_system:
            return self._existing(self.request.file_system)
        if self.request.lustre_gib is not None:
            return _lustre(self.request.lustre_gib, pools)
        if self.listing is None:
            return None
        return self._chosen_storage(base, network, pools)

    def _chosen_storage(
        self, base: Example, network: NetworkDesign, pools: list[PoolDesign]
    ) -> StorageDesign | None:
        assert self.listing is not None  # noqa: S101 - the caller has checked it
        storage = base.cluster.child("storage")
        own = Choice(NONE, "no shared file system")
        if storage is not None:
            names = ", ".join(entry.key for entry in storage.children)
            own = Choice(_EXAMPLE, f"as in {base.stack}: {names}")
        reachable = offers.mountable(self.listing, network.vpc_id or "", self.kind)
        choices = [
            own,
            Choice(_LUSTRE, "a new FSx for Lustre file system"),
            *(Choice(name, text) for name, text in reachable.items()),
        ]
        question = Question(
            option="--file-system",
            text="Which file system do the nodes share?",
            choices=choices,
            default=(own.value,),
        )
        answer = (self.ask(question) or (own.value,))[0]
        if answer == own.value:
            return None
        if answer != _LUSTRE:
            return self._existing(answer)
        size = self.ask(
            Question(
                option="--lustre-gib",
                text=f"How many GiB has it? {LUSTRE_RULE}",
                default=(str(_LUSTRE_GIB),),
                fault=_size_fault,
            )
        )
        return _lustre(int((size or (str(_LUSTRE_GIB),))[0]), pools)

    def _existing(self, file_system_id: str) -> StorageDesign:
        efs = self.listing.efs if self.listing is not None else ()
        is_efs = any(each.file_system_id == file_system_id for each in efs)
        kind = "existing-efs" if is_efs else "existing-fsx-lustre"
        return StorageDesign(kind=kind, file_system_id=file_system_id)

    def _key_pair(self, base: Example) -> str:
        if self.request.key_pair or not KINDS[self.kind].pools or self.listing is None:
            return self.request.key_pair
        system = operating_system(replace(self.request, example=base.stack))
        keys = offers.usable_keys(self.listing, system)
        if not keys:
            return ""
        choices = [Choice(NONE, "Session Manager only")]
        choices += [Choice(name, type_) for name, type_ in keys.items()]
        question = Question(
            option="--key-pair",
            text="Which key pair opens SSH connections?",
            choices=choices,
            default=(NONE,),
        )
        answer = (self.ask(question) or (NONE,))[0]
        return "" if answer == NONE else answer


def _lustre(capacity_gib: int, pools: list[PoolDesign]) -> StorageDesign:
    zones = [pool.reserved.zone if pool.reserved else pool.zone for pool in pools]
    several = len(set(zones)) > 1
    return StorageDesign(
        kind="fsx-lustre", capacity_gib=capacity_gib, zone=zones[0] if several else None
    )


def _size_fault(values: Sequence[str]) -> str | None:
    answer = values[0]
    valid = answer.isascii() and answer.isdecimal() and LUSTRE_RULE.allows(int(answer))
    return None if valid else f"give {LUSTRE_RULE}"
