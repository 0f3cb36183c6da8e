"""Start the plugin; the engine does this through `pulumi-resource-kubernetes`."""

import sys

from trainyard.sandbox.providers._protocol.serve import engine_log, require_sandbox_endpoint, serve
from trainyard.sandbox.providers.kubernetes.servicer import KubernetesServicer

require_sandbox_endpoint()
serve(KubernetesServicer(engine_log(sys.argv[1:])))
