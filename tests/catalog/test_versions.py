import re
from datetime import date

import pytest
from botocore.session import Session

from trainyard.components.catalog.versions import (
    DEFAULT_KUBERNETES_VERSION,
    EKS_VERSIONS,
    STANDARD_SUPPORT_ENDS,
    ami_type,
    extended_support_ended,
    standard_support_ended,
)

every_version = pytest.mark.parametrize("version", EKS_VERSIONS.values(), ids=EKS_VERSIONS)


@every_version
def test_every_pin_is_exact(version):
    assert re.fullmatch(rf"{version.minor}\.\d+-20\d{{6}}", version.ami_release_version)
    for addon in (version.vpc_cni, version.kube_proxy, version.coredns):
        assert re.fullmatch(r"v\d+\.\d+\.\d+-eksbuild\.\d+", addon)
    assert version.kube_proxy.startswith(f"v{version.minor}.")
    assert f"kube-scheduler:v{version.minor}." in version.kube_scheduler_image
    assert f"-eks-{version.minor.replace('.', '-')}-" in version.kube_scheduler_image


@every_version
def test_the_vpc_cni_knows_efa_only_interfaces(version):
    """A17."""
    assert tuple(map(int, version.vpc_cni[1:].split("-")[0].split("."))) >= (1, 18, 5)


@every_version
def test_the_releases_with_kernel_panics_are_not_used(version):
    assert not version.ami_release_version.endswith(("20260930", "20261003"))


def test_the_default_version_is_pinned_and_supported():
    assert DEFAULT_KUBERNETES_VERSION in EKS_VERSIONS
    assert not standard_support_ended(DEFAULT_KUBERNETES_VERSION, date(2026, 12, 1))


@every_version
def test_every_version_has_a_date_at_which_its_support_ends(version):
    assert version.minor in STANDARD_SUPPORT_ENDS


@pytest.mark.parametrize(
    ("minor", "day", "ended"),
    [
        pytest.param("1.34", date(2026, 12, 1), False, id="day-before"),
        pytest.param("1.34", date(2026, 12, 2), True, id="the-day"),
        pytest.param("1.28", date(2026, 1, 1), True, id="before-the-calendar"),
        pytest.param("1.37", date(2026, 12, 2), False, id="after-the-calendar"),
    ],
)
def test_support_ends_on_its_day(minor, day, ended):
    assert standard_support_ended(minor, day) is ended


@pytest.mark.parametrize("variant", ["standard", "nvidia", "neuron"])
def test_the_ssm_parameter_names_the_release(variant):
    """EKN-04."""
    version = EKS_VERSIONS[DEFAULT_KUBERNETES_VERSION]
    release = version.ami_release_version.partition("-")[2]
    assert version.ami_ssm_parameter(variant, "x86_64") == (
        f"/aws/service/eks/optimized-ami/{version.minor}/amazon-linux-2023/x86_64/{variant}/"
        f"amazon-eks-node-al2023-x86_64-{variant}-{version.minor}-v{release}/image_id"
    )


def test_ami_types_are_spelled_as_eks_spells_them():
    assert ami_type("nvidia", "x86_64") == "AL2023_x86_64_NVIDIA"
    assert ami_type("standard", "arm64") == "AL2023_ARM_64_STANDARD"


@pytest.mark.parametrize("variant", ["standard", "nvidia", "neuron"])
@pytest.mark.parametrize("architecture", ["x86_64", "arm64"])
def test_only_images_that_eks_has_are_named(variant, architecture):
    known = Session().get_service_model("eks").shape_for("AMITypes").enum
    version = EKS_VERSIONS[DEFAULT_KUBERNETES_VERSION]
    if (variant, architecture) == ("neuron", "arm64"):
        assert "AL2023_ARM_64_NEURON" not in known
        for name in (ami_type, version.ami_ssm_parameter):
            with pytest.raises(ValueError, match="no AL2023 image with the Neuron driver"):
                name(variant, architecture)
        return
    assert ami_type(variant, architecture) in known
    assert architecture in version.ami_ssm_parameter(variant, architecture)


@pytest.mark.parametrize(
    ("minor", "today", "has_ended"),
    [
        ("1.29", date(2026, 3, 22), False),
        ("1.29", date(2026, 3, 23), True),
        ("1.33", date(2026, 11, 30), False),
        ("1.9", date(2026, 11, 30), True),
        ("1.40", date(2026, 11, 30), False),
    ],
)
def test_extended_support_ends_a_year_after_standard_support(
    minor: str, today: date, has_ended: bool
) -> None:
    """https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, the calendar:
    extended support of 1.29 ended on March 23, 2026."""
    assert extended_support_ended(minor, today) is has_ended
