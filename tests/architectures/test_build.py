"""From a plan to the component that builds it."""

from components.architectures.build import ARCHITECTURES, build
from components.eks.plan import EksPlan
from tests.support.eks_plans import eks_plan


def test_every_plan_has_a_component():
    assert ARCHITECTURES.keys() == {EksPlan}


def test_the_stack_is_named_after_its_cluster(deploy):
    cloud = deploy(lambda: build(eks_plan(name="other")))
    (architecture,) = (made for made in cloud.components() if "architectures:Eks" in made.type)
    assert architecture.name == "other"
    assert cloud.one("other-eks").inputs["name"] == "other"
