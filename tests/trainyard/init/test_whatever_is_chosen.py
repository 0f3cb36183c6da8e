"""For every combination of offered choices, the stack file passes `check`."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.account import NOW, listing
from trainyard.init.conflicts import account_conflicts
from trainyard.init.design import KINDS, InitRequest
from trainyard.init.examples import examples
from trainyard.init.new_stack import missing_values, refuse_invalid
from trainyard.init.question import Question
from trainyard.init.resolving import Resolver, resolve_kind

LISTING = listing()
REGIONS = ("us-west-2", "us-east-1", "eu-west-1", "ap-northeast-1")
NETWORKS = (("9.9.9.9/32",), ("9.9.9.9/32", "8.8.8.0/24"), ("private",), ("0.0.0.0/0",))
LEFT_OUT = {
    "vpc_id",
    "public_subnet_ids",
    "private_subnet_ids",
    "reservation_id",
    "custom_ami_id",
    "availability_zone",
    "availability_zones",
}
"""Keys that only the account knows."""
BEGINNINGS = [*(("kind", kind) for kind in KINDS), *(("example", stack) for stack in examples())]


def answering(data: st.DataObject):
    """Answer each question with an offered choice, or with its default."""

    def ask(question: Question) -> tuple[str, ...]:
        if question.option == "--api-networks":
            answers = [each for each in NETWORKS if question.fault(each) is None]
            return data.draw(st.sampled_from(answers))
        values = [choice.value for choice in question.choices]
        if not values or (question.default and data.draw(st.booleans())):
            return question.default or ()
        if question.option == "--subnet":
            return question.default or ()
        if not question.several:
            return (data.draw(st.sampled_from(values)),)
        several = st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True)
        return tuple(data.draw(several))

    return ask


@given(data=st.data(), beginning=st.sampled_from(BEGINNINGS))
@settings(max_examples=150, deadline=None)
def test_every_choice_that_is_offered_makes_a_stack_file_that_passes_check(data, beginning) -> None:
    ask = answering(data)
    request = InitRequest(name="prod-a", **dict([beginning]))
    request = replace(resolve_kind(request, ask), region="us-west-2")
    assert account_conflicts(request, request.kind, LISTING, NOW) == []
    design = Resolver(request, LISTING, NOW, ask).design()
    refuse_invalid(design)
    missing = {problem.path.rpartition(".")[2] for problem in missing_values(design)}
    assert missing <= {"custom_ami_id", "reservation_id"}


@given(data=st.data(), beginning=st.sampled_from(BEGINNINGS), region=st.sampled_from(REGIONS))
@settings(max_examples=100, deadline=None)
def test_without_an_account_the_stack_file_lacks_only_what_the_account_knows(
    data, beginning, region
) -> None:
    ask = answering(data)
    request = InitRequest(name="prod-a", **dict([beginning]))
    request = replace(resolve_kind(request, ask), region=region)
    design = Resolver(request, None, NOW, ask).design()
    refuse_invalid(design)
    missing = {problem.path.rpartition(".")[2] for problem in missing_values(design)}
    assert missing <= LEFT_OUT
