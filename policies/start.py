"""Start the policy pack; the `__main__.py` of a pack only imports `start` and calls it."""

import trainyard.components.cheap_imports  # noqa: F401 - before other imports
from trainyard.policies.pack.configured import served
from trainyard.policies.pack.discovery import PACK_NAME, POLICIES
from trainyard.policies.pack.servicer import PackServicer, serve


def start() -> None:
    """Serve the rules to the engine until it ends."""
    serve(PackServicer(PACK_NAME, served(POLICIES)))
