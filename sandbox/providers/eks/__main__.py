"""Start the plugin; the engine does this through `pulumi-resource-eks`."""

import sys

from pulumi.provider import main

from trainyard.sandbox.providers._protocol.serve import (
    end_with_the_engine,
    require_sandbox_endpoint,
)
from trainyard.sandbox.providers.eks.provider import EksProvider

require_sandbox_endpoint()
end_with_the_engine()
main(EksProvider(), sys.argv[1:])
