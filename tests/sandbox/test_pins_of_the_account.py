"""The report of pins reads the values that only an account knows."""

from __future__ import annotations

from datetime import date

from tests.support.sandbox_aws import Account
from tools.pins import EksAddon, EksAmi, EksVersions, newest
from tools.pins.newest import Clients, look_up
from tools.pins.registry import pins
from trainyard.sandbox.aws.eks.addons import default_version


def test_every_pin_of_eks_gets_its_newest_version(account: Account) -> None:
    wanted = {
        name: pin
        for name, pin in pins().items()
        if isinstance(pin.source, EksVersions | EksAddon | EksAmi)
    }
    clients = Clients(today=date(2026, 11, 22), account=newest.Account(account.client))

    answers = look_up(wanted.values(), clients)

    assert len(wanted) > 10
    for name, pin in wanted.items():
        assert answers[name].reason == ""
        if isinstance(pin.source, EksAmi):
            assert answers[name].newest == pin.version
        elif isinstance(pin.source, EksAddon):
            default = default_version(pin.source.addon, pin.source.minor)
            assert f"v{answers[name].newest}" == default
