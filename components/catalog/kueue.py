"""Names of Kueue, and of the queue of a stack.

Source:
    https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/
    https://kueue.sigs.k8s.io/docs/concepts/local_queue/
"""

KUEUE_GROUP = "kueue.x-k8s.io"
KUEUE_API = "v1beta2"
"""Version of that API group."""
QUEUE_LABEL = f"{KUEUE_GROUP}/queue-name"
"""Label of a job that a queue starts."""
JOB_UID_LABEL = f"{KUEUE_GROUP}/job-uid"
"""Label of the `Workload` that Kueue makes for a job: the uid of the job."""
QUEUE = "training"
"""The queue of a stack: name of its ClusterQueue and of its LocalQueue. It is not `default`,
because Kueue would put every job of the namespace into a queue with that name."""
QUEUE_NAMESPACE = "default"
"""Namespace whose jobs can be in the queue."""
