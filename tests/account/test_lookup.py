"""Which objects the reader of an account creates, and when."""

from trainyard.components.account.reader import AccountReader


def test_a_client_is_made_when_it_is_first_asked_and_once(monkeypatch):
    made: list[str] = []

    class Session:
        def __init__(self, **_) -> None:
            pass

        def client(self, service: str, **_) -> object:
            made.append(service)
            return object()

    monkeypatch.setattr("boto3.Session", Session)
    first = AccountReader(region="us-west-2")
    assert made == []
    assert first.ec2 is first.ec2
    assert made == ["ec2"]
    assert all((first.eks, first.fsx, first.resource_groups, first.sts))
    assert made == ["ec2", "eks", "fsx", "resource-groups", "sts"]
