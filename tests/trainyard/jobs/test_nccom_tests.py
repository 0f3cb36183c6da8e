"""`nccom-tests`: one all-reduce over every NeuronCore of every node."""

import shutil
import subprocess
from dataclasses import replace

import pytest
import yaml

from tests.support.eks import eks_plan, nodes_of
from trainyard.jobs.nccom import render_nccom_tests
from trainyard.jobs.nodes import JobError, JobRequest

TRN1 = nodes_of("trn1.32xlarge")


def render(group=TRN1, *, scheduler=True, **request):
    plan = eks_plan(group)
    if not scheduler:
        addons = plan.self_managed_addons
        rest = {name: served for name, served in addons.items() if name != "neuron-scheduler"}
        plan = replace(plan, self_managed_addons=rest)
    return render_nccom_tests(plan, JobRequest(**request)).text


def pod(*args, **request):
    *_, job = yaml.safe_load_all(render(*args, **request))
    assert job["kind"] == "Job"
    return job["spec"]["template"]["spec"]


def script(*args, **request):
    return pod(*args, **request)["containers"][0]["command"][2]


def test_the_manifest_of_a_stack_stays_as_it_is(golden):
    golden("jobs/nccom-tests-trn1.yaml", render())


@pytest.mark.parametrize(
    ("type_name", "nodes", "ranks"),
    [
        pytest.param("trn1.32xlarge", 2, 64, id="trn1"),
        pytest.param("trn1n.32xlarge", 4, 128, id="trn1n"),
        pytest.param("trn2.48xlarge", 2, 128, id="trn2"),
    ],
)
def test_there_is_a_rank_for_every_core_of_every_node(type_name, nodes, ranks):
    assert f"nccom-test -r {ranks} -N {nodes} " in script(nodes_of(type_name, desired=nodes))


def test_the_ranks_meet_at_the_address_of_the_first_pod():
    assert 'export NEURON_RT_ROOT_COMM_ID="${addresses[0]}:63182"' in script()
    assert '--hosts "${addresses[@]}"' in script()


def test_one_node_needs_no_hosts():
    assert "nccom-test -r 32 -b 8" in script(nodes=1)
    assert "--hosts" not in script(nodes=1)


def test_pods_take_whole_nodes():
    limits = pod()["containers"][0]["resources"]["limits"]
    assert limits == {
        "aws.amazon.com/neuron": 16,
        "vpc.amazonaws.com/efa": 8,
        "hugepages-2Mi": "5120Mi",
        "memory": "262144Mi",
    }


def test_the_neuron_scheduler_places_the_pods_where_there_is_one():
    assert pod()["schedulerName"] == "my-scheduler"
    assert "schedulerName" not in pod(scheduler=False)


def test_what_the_image_and_the_job_set_reaches_the_ranks_on_other_nodes():
    """A23: no FI_EFA_USE_DEVICE_RDMA; libfabric uses RDMA if it is supported."""
    (line,) = [line for line in script().splitlines() if "SetEnv" in line]
    for name in ("PATH", "LD_LIBRARY_PATH", "CCOM_SOCKET_IFNAME", "FI_PROVIDER"):
        assert f"{name}=${{{name}:-}}" in line
    assert "FI_EFA_" not in render()


def test_refuses_several_nodes_that_cannot_reach_one_another():
    group = nodes_of("trn1.32xlarge", efa=False)
    with pytest.raises(JobError, match="has no EFA"):
        render(group)
    assert "vpc.amazonaws.com/efa" not in render(group, nodes=1)


def test_refuses_a_stack_without_neuron_devices():
    with pytest.raises(JobError, match="no node group with Neuron devices"):
        render(nodes_of("p5.48xlarge"))


def test_the_script_is_a_script():
    bash = shutil.which("bash")
    assert bash is not None
    checked = subprocess.run(
        [bash, "-n"], input=script(), text=True, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
