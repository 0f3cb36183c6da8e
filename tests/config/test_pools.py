"""Rules for node pools of every architecture."""

from tests.support.batch import P4D
from tests.support.eks import STACK_FILE, p5
from tests.support.parallelcluster import raw_p4de, raw_trn1
from tests.support.stack_files import PRIVATE_B, raw_config
from trainyard.components.config.load import load_stack_config


def test_a_node_group_is_a_pool():
    """The desired size must fit into the reservation."""
    (pool,) = load_stack_config(p5(desired=1, maximum=2), stack_file=STACK_FILE).pools()
    assert (pool.name, pool.key) == ("p5", "architecture.node_groups.p5")
    assert pool.launch_key == pool.key
    assert (pool.wanted, pool.maximum, pool.least) == (1, 2, 0)
    assert pool.wanted_key == "architecture.node_groups.p5.desired"


def test_a_compute_resource_is_a_pool_that_lies_where_its_queue_does():
    """ParallelCluster's own rule: the maximum size must fit."""
    (pool,) = load_stack_config(raw_p4de(), stack_file=STACK_FILE).pools()
    assert pool.name == "compute-gpu/distributed-ml"
    assert pool.launch_key == "architecture.queues.compute-gpu"
    assert pool.key == f"{pool.launch_key}.compute_resources.distributed-ml"
    assert (pool.purchase_option, pool.wanted, pool.least) == ("p4de", 4, 1)
    assert pool.wanted_key == f"{pool.key}.maximum"


def test_nodes_that_up_launches_are_known_with_the_keys_that_say_so():
    """ParallelCluster tries a launch into every queue, also without static nodes."""

    def of(raw):
        (pool,) = load_stack_config(raw, stack_file=STACK_FILE).pools()
        return pool.at_once, [key.removeprefix(f"{pool.key}.") for key in pool.at_once_keys]

    assert of(p5(desired=1, maximum=2)) == (1, ["minimum", "desired"])
    static = "architecture__queues__compute-gpu__compute_resources__distributed-ml__minimum"
    for minimum in (0, 2):
        assert of(raw_p4de(**{static: minimum})) == (max(minimum, 1), [])
        changed = {"architecture__compute_environments__p4d__minimum": minimum}
        assert of(raw_config(P4D, **changed)) == (minimum, ["minimum"])


def test_the_own_purchase_option_comes_before_that_of_the_queue():
    key = "architecture__queues__compute1__compute_resources__queue1-i1__purchase_option"
    (pool,) = load_stack_config(raw_trn1(**{key: "spot"}), stack_file=STACK_FILE).pools()
    assert (pool.purchase_option, pool.subnet_ids) == ("spot", (PRIVATE_B,))
