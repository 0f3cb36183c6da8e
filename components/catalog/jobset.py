"""Names of JobSet.

Source: https://github.com/kubernetes-sigs/jobset/blob/v0.12.0/api/jobset/v1alpha2/jobset_types.go
"""

JOBSET_GROUP = "jobset.x-k8s.io"
JOBSET_API = "v1alpha2"
"""Version of that API group."""
JOBSET_LABEL = "jobset.sigs.k8s.io/jobset-name"
"""Label of the pods of a JobSet (`JobSetNameKey`)."""
