"""What goes wrong while the engine or the Kubernetes programs are got, in words for people."""


class EngineError(Exception):
    """Neither way of getting a program worked; the message says what was tried and what to do."""


class DownloadUnavailableError(EngineError):
    """A release cannot be downloaded here: no route, no such file, or switched off.

    Not the end: the same version can be built instead.
    """


class RefusedDownloadError(EngineError):
    """What was downloaded is not what its publisher released, so it is not used."""
