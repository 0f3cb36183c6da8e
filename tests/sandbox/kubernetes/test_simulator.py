"""The node simulator's thread survives errors of everything around it."""

from __future__ import annotations

import threading

import pytest
from botocore.exceptions import EndpointConnectionError

from tests.support.processes import PATIENCE, until
from trainyard.sandbox.kubernetes.control_planes import ControlPlane
from trainyard.sandbox.kubernetes.credentials import make_credentials
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.nodes import NodeSimulator

NOBODY = "https://127.0.0.1:9"


@pytest.fixture(scope="module")
def silent_plane(tmp_path_factory):
    """A control plane whose API server does not answer."""
    directory = tmp_path_factory.mktemp("cluster")
    credentials, token = make_credentials(directory)
    return ControlPlane(
        name="p5-cb",
        endpoint=NOBODY,
        certificate_authority_data=credentials.certificate_authority_data,
        admin_token=token,
        access_key="SANDBOX00",
        directory=directory,
    )


class Planes:
    def __init__(self, *planes):
        self.planes = {plane.name: plane for plane in planes}

    def get(self, name):
        return self.planes.get(name)

    def names(self):
        return sorted(self.planes)


class Account:
    """Counts its calls; fails as long as it has an error."""

    def __init__(self, error=None, instances=()):
        self.error, self.asked = error, 0
        self.running = {instance.instance_id: instance for instance in instances}

    def running_instance_ids(self):
        self.asked += 1
        if self.error:
            raise self.error
        return set(self.running)

    def instances(self, instance_ids):
        return [self.running[instance_id] for instance_id in instance_ids]

    def terminate(self, instance_id):
        self.running.pop(instance_id, None)

    def node_group(self, _cluster, name):
        return {"nodegroupName": name, "nodeRole": "arn:aws:iam::123456789012:role/node"}

    def cluster(self, name):
        return {"name": name, "resourcesVpcConfig": {}}


def instance_of(cluster: str) -> Instance:
    return Instance(
        instance_id="i-0123456789abcdef0",
        instance_type="c5.2xlarge",
        image_id="ami-0123456789abcdef0",
        region="us-west-2",
        availability_zone="us-west-2b",
        zone_id="usw2-az1",
        private_dns_name="ip-10-0-1-2.us-west-2.compute.internal",
        private_ip_address="10.0.1.2",
        efa_interfaces=0,
        security_group_ids=(),
        instance_profile="node",
        root_volume_gib=100,
        user_data=b"",
        tags={"eks:cluster-name": cluster, "eks:nodegroup-name": "system"},
    )


@pytest.fixture
def run():
    """Run a simulator in a thread until the test ends."""
    stop, threads = threading.Event(), []

    def start(account, planes):
        simulator = NodeSimulator(account, planes)
        thread = threading.Thread(target=simulator.run, args=(stop,))
        threads.append(thread)
        thread.start()

    yield start
    stop.set()
    for thread in threads:
        thread.join(timeout=PATIENCE)
        assert not thread.is_alive()


def test_an_account_that_does_not_answer_is_reported_once_and_asked_again(
    run, silent_plane, caplog
):
    account = Account(EndpointConnectionError(endpoint_url="http://127.0.0.1:9"))
    run(account, Planes(silent_plane))
    until(lambda: account.asked >= 3, "three questions")
    assert caplog.text.count("the account does not answer") == 1


def test_an_error_that_nobody_thought_of_does_not_end_the_thread(run, silent_plane, caplog):
    account = Account(RuntimeError("surprise"))
    run(account, Planes(silent_plane))
    until(lambda: account.asked >= 3, "three questions")
    assert caplog.text.count("RuntimeError: surprise\n") == 2  # the line, and its traceback


def test_an_api_server_that_does_not_answer_is_reported_once(run, silent_plane, caplog):
    account = Account(instances=[instance_of("p5-cb")])
    run(account, Planes(silent_plane))
    until(lambda: account.asked >= 5, "five questions")
    assert caplog.text.count("i-0123456789abcdef0 cannot join p5-cb: https://127.0.0.1:9") == 1


def test_a_cluster_that_is_not_there_yet_is_waited_for(run, silent_plane, caplog):
    account = Account(instances=[instance_of("later")])
    run(account, Planes(silent_plane))
    until(lambda: "cannot join: no cluster 'later' has an API server" in caplog.text, "the reason")


def test_without_a_cluster_the_account_is_left_alone(run, silent_plane):
    account, planes = Account(), Planes()
    run(account, planes)
    busy = Account()
    run(busy, Planes(silent_plane))
    until(lambda: busy.asked >= 3, "another simulator's three questions")
    assert account.asked == 0
