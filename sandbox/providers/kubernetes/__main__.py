"""Start the plugin; the engine does this through `pulumi-resource-kubernetes`."""

from sandbox.providers._protocol.serve import require_sandbox_endpoint, serve
from sandbox.providers.kubernetes.servicer import KubernetesServicer

require_sandbox_endpoint()
serve(KubernetesServicer())
