"""The plan of a stack of any architecture, for annotations.

Modules import it only for type checking: at run time, only the modules of the stack's own
architecture are imported.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.batch.plan import BatchPlan
    from components.eks.plan import EksPlan
    from components.network_stack.plan import NetworkStackPlan
    from components.parallelcluster.plan import ParallelClusterPlan

    AnyPlan = EksPlan | ParallelClusterPlan | BatchPlan | NetworkStackPlan
    """The plan of a stack of any architecture."""
