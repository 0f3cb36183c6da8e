"""Start the plugin; the engine does this through `pulumi-resource-aws`."""

from sandbox.providers._protocol.serve import require_sandbox_endpoint, serve
from sandbox.providers.aws.servicer import AwsServicer

serve(AwsServicer(require_sandbox_endpoint()))
