"""The plan of a stack of any architecture, for annotations.

Modules import it only for type checking: at run time, only the modules of the stack's own
architecture are imported.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.components.batch.plan import BatchPlan
    from trainyard.components.eks.plan import EksPlan
    from trainyard.components.network_stack.plan import NetworkStackPlan
    from trainyard.components.parallelcluster.plan import ParallelClusterPlan

    AnyPlan = EksPlan | ParallelClusterPlan | BatchPlan | NetworkStackPlan
    """The plan of a stack of any architecture."""
