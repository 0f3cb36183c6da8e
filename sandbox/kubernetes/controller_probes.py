"""When a released controller is ready: its probe succeeds, and it answers for its webhooks.

The probe alone is not enough for JobSet: it succeeds when the server of the webhooks listens, and
`setupControllers` may register them later. In a cluster, `initialDelaySeconds` of the probe hides
this. https://github.com/kubernetes-sigs/jobset/blob/v0.12.0/main.go
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Mapping
from typing import Any

import urllib3

_SECONDS = 1.0
_REVIEW = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {"uid": "ready", "operation": "DELETE"},
}
"""A request without an object, which no webhook acts on."""


def is_ready(port: int) -> bool:
    """Return whether the readiness probe of a controller succeeds."""
    try:
        answer = urllib3.request(
            "GET", f"http://127.0.0.1:{port}/readyz", retries=False, timeout=_SECONDS
        )
    except urllib3.exceptions.HTTPError:
        return False
    return answer.status == 200


def answers(port: int, host: str, client: Mapping[str, Any]) -> bool:
    """Return whether a webhook answers as the API server asks it.

    Args:
        port: Port of the controller's webhooks.
        host: Name in their certificate.
        client: The `clientConfig` of the webhook. It has no `caBundle` until the certificate is
            made; and a path that the controller has not registered is not found.
    """
    bundle = client.get("caBundle")
    if not bundle:
        return False
    with urllib3.HTTPSConnectionPool(
        "127.0.0.1",
        port,
        ssl_context=ssl.create_default_context(cadata=base64.b64decode(bundle).decode()),
        server_hostname=host,
        retries=False,
        timeout=_SECONDS,
    ) as pool:
        try:
            answer = pool.request("POST", client["service"]["path"], json=_REVIEW)
        except urllib3.exceptions.HTTPError:
            return False
        return answer.status == 200
