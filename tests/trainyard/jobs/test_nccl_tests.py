"""`nccl-tests`: one all-reduce over every GPU of every node."""

import shutil
import subprocess

import pytest
import yaml

from tests.support.eks import eks_plan, nodes_of
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, instance_type
from trainyard.components.catalog.nccl import largest_message
from trainyard.components.config.eks import Taint
from trainyard.jobs.nccl import render_nccl_tests
from trainyard.jobs.nodes import JobRequest

TAINT = Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule")
GROUPS = {
    "g4dn": nodes_of("g4dn.8xlarge"),
    "p4de": nodes_of("p4de.24xlarge", taints=(TAINT,)),
    "p5": nodes_of("p5.48xlarge"),
}
NVIDIA = [
    t
    for t in INSTANCE_TYPES.values()
    if t.accelerators and t.accelerators.manufacturer == "nvidia" and t.architecture == "x86_64"
]


def render(group, **request):
    return render_nccl_tests(eks_plan(group), JobRequest(**request)).text


def documents(group, **request):
    return {made["kind"]: made for made in yaml.safe_load_all(render(group, **request))}


def container(group, **request):
    return documents(group, **request)["Job"]["spec"]["template"]["spec"]["containers"][0]


def script(group, **request):
    return container(group, **request)["command"][2]


def environment(group):
    return {entry["name"]: entry.get("value") for entry in container(group)["env"]}


@pytest.mark.parametrize("name", GROUPS)
def test_the_manifest_of_a_stack_stays_as_it_is(golden, name):
    golden(f"jobs/nccl-tests-{name}.yaml", render(GROUPS[name]))


@pytest.mark.parametrize(
    ("type_name", "nodes", "ranks"),
    [
        pytest.param("g4dn.8xlarge", 2, 2, id="one-gpu"),
        pytest.param("p4de.24xlarge", 2, 16, id="two-nodes"),
        pytest.param("p5.48xlarge", 16, 128, id="many-nodes"),
    ],
)
def test_there_is_a_rank_for_every_gpu_of_every_node(type_name, nodes, ranks):
    """BAT5-10: `-np 8` on two nodes was two separate tests of one node."""
    group = nodes_of(type_name, desired=nodes)
    gpus = ranks // nodes
    hosts = f'"$(IFS=,; echo "${{hosts[*]/%/:{gpus}}}")"'
    assert f"-np {ranks} --host {hosts} --map-by ppr:{gpus}:node" in script(group)
    spec = documents(group)["Job"]["spec"]
    assert (spec["completions"], spec["parallelism"]) == (nodes, nodes)


@pytest.mark.parametrize("found", NVIDIA, ids=lambda t: t.name)
def test_no_setting_stands_that_the_versions_in_use_must_not_have(found):
    """A23, A24: neither set for the container nor passed on to the ranks."""
    text = render(nodes_of(found.name))
    for name in ("FI_EFA_", "RDMAV_", "NCCL_PROTO", "FI_PROVIDER", "NCCL_TUNER_PLUGIN"):
        assert name not in text


@pytest.mark.parametrize(
    ("group", "settings"),
    [
        pytest.param(GROUPS["g4dn"], {"NCCL_NET": "AWS Libfabric"}, id="one-efa"),
        pytest.param(
            GROUPS["p5"],
            {
                "NCCL_NET": "AWS Libfabric",
                "NCCL_BUFFSIZE": "8388608",
                "NCCL_P2P_NET_CHUNKSIZE": "524288",
            },
            id="many-efa",
        ),
        pytest.param(nodes_of("p5.48xlarge", efa=False), {"NCCL_NET": "Socket"}, id="no-efa"),
    ],
)
def test_nccl_is_told_its_network_and_every_rank_is(group, settings):
    found = environment(group)
    assert {key: found.get(key) for key in settings} == settings
    for name in (*settings, "NCCL_DEBUG", "PATH", "LD_LIBRARY_PATH"):
        assert f"-x {name} " in script(group).replace("\\\n", "")


def test_without_efa_nothing_asks_for_its_devices():
    limits = container(nodes_of("p5.48xlarge", efa=False))["resources"]["limits"]
    assert set(limits) == {"nvidia.com/gpu", "memory"}


@pytest.mark.parametrize(
    ("type_name", "architecture"),
    [pytest.param("g4dn.8xlarge", "75", id="t4"), pytest.param("g7e.8xlarge", "120", id="rtx")],
)
def test_kernels_that_the_image_lacks_are_built_on_every_node(type_name, architecture):
    lines = script(nodes_of(type_name))
    assert f"-gencode=arch=compute_{architecture},code=sm_{architecture}" in lines
    assert lines.index("make ") < lines.index("/usr/sbin/sshd")
    assert "/tmp/built/nccl-tests/all_reduce_perf -b 8" in lines


@pytest.mark.parametrize("type_name", ["g5.8xlarge", "g6.8xlarge", "p4d.24xlarge", "p5.48xlarge"])
def test_nothing_is_built_where_the_image_has_kernels(type_name):
    assert "make " not in script(nodes_of(type_name))
    assert "/opt/nccl-tests/build/all_reduce_perf" in script(nodes_of(type_name))


@pytest.mark.parametrize(
    ("type_name", "largest"),
    [
        ("g4dn.8xlarge", "2G"),
        ("g5.8xlarge", "4G"),
        ("p4d.24xlarge", "8G"),
        ("p4de.24xlarge", "16G"),
        ("p5en.48xlarge", "16G"),
    ],
)
def test_three_of_the_largest_buffers_fit_into_a_gpu(type_name, largest):
    """BAT5-10: 16G, if the memory of the GPU suffices."""
    accelerators = instance_type(type_name).accelerators
    assert largest_message(accelerators) == largest
    assert f"-e {largest} " in script(nodes_of(type_name))
    assert 3 * int(largest[:-1]) * 1024 < accelerators.memory_mib


def test_pods_find_one_another_by_the_names_that_the_service_gives_them():
    made = documents(GROUPS["p5"])
    name = "nccl-tests-p5"
    spec = made["Service"]["spec"]
    assert spec["clusterIP"] == "None"
    assert spec["publishNotReadyAddresses"] is True
    assert spec["selector"] == {"batch.kubernetes.io/job-name": name}
    job = made["Job"]
    assert job["metadata"]["name"] == made["Service"]["metadata"]["name"] == name
    assert job["spec"]["completionMode"] == "Indexed"
    assert job["spec"]["template"]["spec"]["subdomain"] == name
    assert f'host="{name}-$index.{name}"' in script(GROUPS["p5"])


def test_the_job_is_done_when_the_command_is_and_fails_when_it_does():
    spec = documents(GROUPS["p5"])["Job"]["spec"]
    assert spec["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    assert spec["backoffLimit"] == 0
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


def test_the_pods_may_change_their_own_config_map_and_nothing_else():
    made = documents(GROUPS["p5"], namespace="vision")
    assert made["Role"]["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": ["nccl-tests-p5"],
            "verbs": ["patch"],
        }
    ]
    assert made["RoleBinding"]["subjects"] == [
        {"kind": "ServiceAccount", "name": "nccl-tests-p5", "namespace": "vision"}
    ]
    assert made["Job"]["spec"]["template"]["spec"]["serviceAccountName"] == "nccl-tests-p5"


def test_no_key_stands_in_the_manifest():
    """Applying it again would otherwise reuse a key that others have seen."""
    made = documents(GROUPS["p5"])
    assert "Secret" not in made
    assert "data" not in made["ConfigMap"]
    assert "PRIVATE KEY" not in render(GROUPS["p5"])


@pytest.mark.parametrize("name", GROUPS)
def test_the_script_is_a_script(name):
    bash = shutil.which("bash")
    assert bash is not None
    checked = subprocess.run(
        [bash, "-n"], input=script(GROUPS[name]), text=True, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    assert "@" not in script(GROUPS[name]).replace("[@]", "")


def test_the_image_is_pinned():
    assert not container(GROUPS["p5"])["image"].endswith(":latest")


@pytest.mark.parametrize(
    ("type_name", "nodes", "alone"),
    [("p5.48xlarge", 2, True), ("p5.48xlarge", 1, False), ("g5.8xlarge", 2, False)],
)
def test_nodes_with_several_gpus_are_tested_alone_first(type_name, nodes, alone):
    lines = script(nodes_of(type_name, desired=nodes))
    assert ("alone_test()" in lines) == alone
    if alone:
        first, _, second = lines.rpartition("wait\n")
        assert "NCCL_DEBUG=WARN timeout 10m" in first
        assert '--host "$1:8"' in first
        assert "-b 1G -e 16G" in first
        assert "-b 8 -e 16G" in second
    program = shutil.which("bash")
    assert program is not None
    subprocess.run([program, "-n"], input=lines, text=True, check=True)
