"""Which objects the reader of an account creates, and when."""

from trainyard.components.account import lookup
from trainyard.components.account.lookup import AccountReader


def test_a_client_is_made_when_it_is_first_asked_and_once(monkeypatch):
    made: list[str] = []

    class Session:
        def __init__(self, **_) -> None:
            pass

        def client(self, service: str, **_) -> object:
            made.append(service)
            return object()

    monkeypatch.setattr(lookup.boto3, "Session", Session)
    reader = AccountReader(region="us-west-2")
    assert made == []
    assert reader.ec2 is reader.ec2
    assert made == ["ec2"]
    assert all((reader.eks, reader.fsx, reader.resource_groups, reader.sts))
    assert made == ["ec2", "eks", "fsx", "resource-groups", "sts"]
