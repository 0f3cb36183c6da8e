"""Which nodes a new stack has: reservations of the account, and instance types on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from trainyard.components.account.facts import ReservationFacts
from trainyard.components.account.listing import AccountListing
from trainyard.init import offers
from trainyard.init.capacity import ON_DEMAND_NODES, pools_of_options, reserved_pool
from trainyard.init.design import Kind, PoolDesign, Request, Reserved
from trainyard.init.examples import Example, ExamplePool, fitting_example
from trainyard.init.question import Ask, Choice, Question

ON_DEMAND = "on-demand"


@dataclass(slots=True)
class CapacityQuestions:
    """Completes the node pools of a stack."""

    request: Request
    kind: Kind
    listing: AccountListing | None
    now: datetime
    ask: Ask

    def pools(self, example: Example | None) -> list[PoolDesign]:
        """Return the node pools, in the order of the options."""
        if self.listing is None:
            return self._without_account(example)
        given = pools_of_options(self.request, self.listing)
        if given:
            kept = self._kept(example, given)
            return [*self._sized(given), *kept]
        if example is not None:
            return self._of_example(example, self.listing)
        return self._sized(self._chosen(self.listing))

    def _without_account(self, example: Example | None) -> list[PoolDesign]:
        if example is not None:
            return self._example_pools(example)
        types = self.request.instance_types
        if not types and not self.request.reservations:
            types = self._asked_types()
        return [
            PoolDesign(instance_type=each, nodes=self.request.nodes_at(index) or ON_DEMAND_NODES)
            for index, each in enumerate(types)
        ]

    def _example_pools(self, example: Example) -> list[PoolDesign]:
        """Return the pools of an example; reservations and types are given in its order."""
        ids, types = list(self.request.reservations), list(self.request.instance_types)
        count = max(len(ids), len(types))
        reserved = next((each for each in example.pools if each.purchase != ON_DEMAND), None)
        templates = list(example.pools)
        while len(templates) < count:
            templates.append(reserved or templates[0])
        pools: list[PoolDesign] = []
        for template in templates:
            kept = template in example.pools and not any(
                each.example_pool == template.name for each in pools
            )
            pool = self._example_pool(template, len(pools), kept=kept)
            if pool.reserved is not None and ids:
                pool = replace(pool, reserved=replace(pool.reserved, reservation_id=ids.pop(0)))
            pools.append(replace(pool, instance_type=types.pop(0)) if types else pool)
        return pools

    def _example_pool(self, template: ExamplePool, index: int | None, *, kept: bool) -> PoolDesign:
        asked = None if index is None else self.request.nodes_at(index)
        nodes = asked or template.nodes
        reserved = None
        if template.purchase != ON_DEMAND:
            reserved = Reserved(kind=template.purchase, reservation_id=None, instance_count=nodes)
        return PoolDesign(
            instance_type=template.instance_type,
            nodes=nodes,
            reserved=reserved,
            example_pool=template.name if kept else "",
        )

    def _kept(self, example: Example | None, given: Sequence[PoolDesign]) -> list[PoolDesign]:
        """Return the On-Demand pools of an example in which only reservations were replaced."""
        if example is None or not any(pool.purchase != ON_DEMAND for pool in example.pools):
            return []
        if any(pool.reserved is None for pool in given):
            return []
        return [
            self._example_pool(each, None, kept=True)
            for each in example.pools
            if each.purchase == ON_DEMAND
        ]

    def _of_example(self, example: Example, listing: AccountListing) -> list[PoolDesign]:
        """Return the pools of an example, with reservations of the account."""
        pools: list[PoolDesign] = []
        taken: set[str] = set()
        for template in example.pools:
            pool = self._example_pool(template, len(pools), kept=True)
            if template.purchase != ON_DEMAND:
                found = self._asked_reservation(template, listing, taken, pool.nodes)
                if found is not None:
                    taken.add(found.reservation_id)
                    held = found.known_count
                    nodes = pool.nodes if held is None else min(pool.nodes, held)
                    pool = replace(reserved_pool(found, listing, nodes), example_pool=template.name)
            pools.append(pool)
        return pools

    def _asked_reservation(
        self, template: ExamplePool, listing: AccountListing, taken: set[str], nodes: int
    ) -> ReservationFacts | None:
        fitting = [
            each
            for each in offers.usable_reservations(listing, self.now)
            if (each.kind, each.instance_type) == (template.purchase, template.instance_type)
            and each.reservation_id not in taken
            and (not self.request.nodes or each.known_count is None or each.known_count >= nodes)
        ]
        question = Question(
            option="--reservation",
            text=f"Which reservation has the {template.instance_type} nodes?",
            choices=[_offered(each) for each in fitting],
            default=(fitting[0].reservation_id,) if len(fitting) == 1 else None,
        )
        if not fitting:
            return None  # the stack file leaves the id out
        answer = self.ask(question)
        return next((each for each in fitting if answer == (each.reservation_id,)), None)

    def _chosen(self, listing: AccountListing) -> list[PoolDesign]:
        usable = offers.usable_reservations(listing, self.now)
        on_demand = Choice(ON_DEMAND, "instances without a reservation", in_terminal_only=True)
        choices = [
            *map(_offered, usable),
            on_demand,
        ]
        question = Question(
            option="--reservation",
            text="Which capacity do the nodes use?",
            choices=choices,
            suggested=(choices[0].value,),
            several=True,
            otherwise="; or `--instance-type` for On-Demand nodes",
        )
        answer = self.ask(question) or ()
        pools = [
            reserved_pool(each, listing, None) for each in usable if each.reservation_id in answer
        ]
        if ON_DEMAND in answer:
            pools += [
                PoolDesign(instance_type=each, nodes=ON_DEMAND_NODES)
                for each in self._asked_types()
            ]
        return pools

    def _asked_types(self) -> tuple[str, ...]:
        names = offers.accelerated_types(self.request.region)
        if self.listing is not None:
            listing = self.listing
            zones = {name: offers.offering_zones(listing, name, self.kind) for name in names}
            names = [name for name in names if zones[name]]
        suggested = fitting_example(self.kind, [], network="").pools
        usual = suggested[0].instance_type if suggested else ""
        question = Question(
            option="--instance-type",
            text="Which instance types do the On-Demand nodes have?",
            choices=[Choice(name) for name in names],
            suggested=(usual,) if usual in names or not names else tuple(names[:1]),
            several=True,
        )
        return self.ask(question) or ()

    def _sized(self, pools: list[PoolDesign]) -> list[PoolDesign]:
        """Return the pools with the number of nodes that the user wants in each."""
        given = [self.request.nodes_at(index) for index in range(len(pools))]
        return [
            replace(pool, nodes=nodes or self._nodes(pool))
            for pool, nodes in zip(pools, given, strict=True)
        ]

    def _nodes(self, pool: PoolDesign) -> int:
        reserved = pool.reserved
        most = reserved.instance_count if reserved is not None else None
        of = f" of {reserved.reservation_id}" if reserved is not None else ""

        def fault(values: Sequence[str]) -> str | None:
            answer = values[0]
            if not (answer.isascii() and answer.isdecimal() and int(answer)):
                return "give a number from 1"
            return f"the reservation has {most}" if most and int(answer) > most else None

        question = Question(
            option="--nodes",
            text=f"How many {pool.instance_type} nodes{of}?" + (f" At most {most}" if most else ""),
            default=(str(pool.nodes),),
            fault=fault,
        )
        return int((self.ask(question) or (str(pool.nodes),))[0])


def _offered(found: ReservationFacts) -> Choice:
    """Return a reservation with what decides whether it fits."""
    kind = "Capacity Block" if found.kind == "capacity-block" else "ODCR"
    is_free = found.state == "active" and found.available_count is not None
    free = f"{found.available_count} free of " if is_free else ""
    times = f", starts {found.starts_at:%Y-%m-%d %H:%M} UTC" if _is_later(found) else ""
    if found.ends_at is not None:
        times += f", ends {found.ends_at:%Y-%m-%d %H:%M} UTC"
    held = "unknown number of" if found.known_count is None else found.known_count
    count = f"{free}{held} {found.instance_type}"
    return Choice(
        found.reservation_id, f"{kind}: {count}, {found.availability_zone}, {found.state}{times}"
    )


def _is_later(found: ReservationFacts) -> bool:
    return found.state == "scheduled" and found.starts_at is not None
