"""A client of the Kubernetes API server of a stack."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import yaml
from kubernetes import client, config

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def cluster_client(kubeconfig: str) -> client.ApiClient:
    """Return a client, which the caller closes.

    Args:
        kubeconfig: Text of a kubeconfig.

    Raises:
        kubernetes.config.ConfigException: the command that provides the token failed.
    """
    configuration: Any = client.Configuration()
    # Callers retry; urllib3 would log a warning for each retry.
    configuration.retries = False
    # An object that does not match its schema must not hide the others.
    configuration.client_side_validation = False
    config.load_kube_config_from_dict(
        yaml.safe_load(kubeconfig), client_configuration=configuration, persist_config=False
    )
    if urlsplit(configuration.host).hostname in _LOOPBACK:
        configuration.proxy = None  # the user's proxy cannot reach this machine
    return client.ApiClient(configuration=configuration)
