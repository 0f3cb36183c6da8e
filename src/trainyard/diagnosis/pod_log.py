"""The log of a pod, as text."""

from __future__ import annotations

from typing import Any


def read_pod_log(core: Any, name: str, namespace: str, **options: Any) -> str:
    """Return the log of the container of a pod.

    The client would return the representation of the bytes of the response, `b'…'`: since version
    36 it does not decode responses of type `str` (`call_api` in `kubernetes/client/api_client.py`).

    Args:
        core: `CoreV1Api` of the official client.
        name: Name of the pod.
        namespace: Its namespace.
        options: Arguments of `read_namespaced_pod_log`, such as `tail_lines`.

    Raises:
        ApiException: the API server or the kubelet refused the request.
        HTTPError: the API server does not respond.
    """
    answer = core.read_namespaced_pod_log(name, namespace, _preload_content=False, **options)
    return answer.data.decode("utf-8", errors="replace")
