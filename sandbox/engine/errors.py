"""Errors of downloads and builds of the engine and the Kubernetes programs, for users."""


class EngineError(Exception):
    """A program can neither be downloaded nor built; the message says why, and what to do."""


class DownloadUnavailableError(EngineError):
    """A release cannot be downloaded here: no route, no such file, or switched off.

    Not fatal: the same version can be built instead.
    """


class RefusedDownloadError(EngineError):
    """A downloaded file is not the one that its publisher released, so it is not used."""
