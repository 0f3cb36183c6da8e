"""The duration of an update, from the state that it created."""

from tools.benchmarks.cold_up import critical_path, taken


def resource(type_, name, created):
    urn = f"urn:pulumi:s::p::{type_}::{name}"
    return {"type": type_, "urn": urn, "created": f"2026-12-01T12:00:{created:09.6f}Z"}


def test_it_is_counted_from_the_start_of_the_first_resource_in_seconds_of_aws():
    timed = critical_path("batch-trn1").times.timed
    state = [
        {"type": "trainyard:network:Vpc", "urn": "urn:pulumi:s::p::trainyard:network:Vpc::n"},
        resource("aws:batch/jobQueue:JobQueue", "batch-trn1-trn1-queue", 21.2),
        resource("aws:ec2/vpc:Vpc", "batch-trn1-network-vpc", 1.2),
    ]
    assert taken(state, timed, scale=0.1) == 200 + 12
