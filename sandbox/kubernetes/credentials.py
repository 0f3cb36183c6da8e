"""Keys, certificates, kubeconfig files and roles of a control plane."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from trainyard.sandbox.kubernetes.api import NOT_FOUND, ApiError, KubernetesApi
from trainyard.sandbox.private_files import write_private

SERVICE_CIDR = "10.100.0.0/16"
"""EKS chooses this or 172.20.0.0/16 if a cluster does not specify one.

Source: `serviceIpv4Cidr` in
https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html
"""

_VALIDITY = dt.timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Files for authentication between the programs of a control plane."""

    certificate_authority: Path
    serving_certificate: Path
    serving_key: Path
    service_account_key: Path
    """Private key that signs service account tokens; its public key verifies them."""
    service_account_public_key: Path
    token_file: Path
    """Static tokens of the API server, one `token,user,uid,"groups"` per line."""

    @property
    def certificate_authority_data(self) -> str:
        """The certificate authority as base64 of its PEM, as EKS reports it."""
        return base64.b64encode(self.certificate_authority.read_bytes()).decode()


def make_credentials(directory: Path) -> tuple[Credentials, str]:
    """Create all keys and certificates of a control plane below `directory`.

    Returns:
        The files, and the administrator's token, which is stored only in the token file.
    """
    directory.mkdir(parents=True, mode=0o700, exist_ok=True)
    service_account_key = ec.generate_private_key(ec.SECP256R1())
    token = secrets.token_urlsafe(32)
    serving = make_server_certificate(directory, "apiserver", _api_server_names())
    files = Credentials(
        certificate_authority=serving.authority,
        serving_certificate=serving.certificate,
        serving_key=serving.key,
        service_account_key=directory / "service-account.key",
        service_account_public_key=directory / "service-account.pub",
        token_file=directory / "tokens.csv",
    )
    write_private(files.service_account_key, _private_pem(service_account_key))
    write_private(files.service_account_public_key, _public_pem(service_account_key))
    write_private(files.token_file, f'{token},sandbox-administrator,1,"system:masters"\n'.encode())
    return files, token


@dataclass(frozen=True, slots=True)
class ServerCertificate:
    """The files of a TLS server and its certificate authority."""

    authority: Path
    certificate: Path
    key: Path


def make_webhook_certificate(directory: Path) -> ServerCertificate:
    """Create the certificate of the authenticator; its client sends a token only over TLS."""
    directory.mkdir(parents=True, mode=0o700, exist_ok=True)
    names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    return make_server_certificate(directory, "webhook", names)


def make_etcd_certificate(directory: Path) -> ServerCertificate:
    """Create the certificate of etcd and of its only client, the API server.

    Whoever can read etcd reads the Secrets of the cluster, so it has an authority of its own.
    """
    directory.mkdir(parents=True, mode=0o700, exist_ok=True)
    names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    return make_server_certificate(directory, "etcd", names, is_client=True)


def make_server_certificate(
    directory: Path, name: str, names: Sequence[x509.GeneralName], *, is_client: bool = False
) -> ServerCertificate:
    """Create a certificate authority and a server certificate.

    Args:
        directory: Directory for the files `ca.crt`, `<name>.crt`, `<name>.key`.
        name: Base name of the server's files.
        names: Names and addresses that clients use for the server.
        is_client: Whether the certificate also identifies a client.
    """
    usages = [ExtendedKeyUsageOID.SERVER_AUTH]
    if is_client:
        usages.append(ExtendedKeyUsageOID.CLIENT_AUTH)
    authority_key = ec.generate_private_key(ec.SECP256R1())
    key = ec.generate_private_key(ec.SECP256R1())
    authority = _authority(authority_key)
    files = ServerCertificate(
        directory / "ca.crt", directory / f"{name}.crt", directory / f"{name}.key"
    )
    write_private(files.authority, _pem(authority))
    serving = _serving_certificate(name, key, authority, authority_key, names, usages)
    write_private(files.certificate, _pem(serving))
    write_private(files.key, _private_pem(key))
    return files


def kubeconfig(*, cluster: str, endpoint: str, certificate_authority_data: str, token: str) -> str:
    """Return a kubeconfig with one cluster, one user and one context, named `cluster`."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": cluster,
        "clusters": [
            {
                "name": cluster,
                "cluster": {
                    "server": endpoint,
                    "certificate-authority-data": certificate_authority_data,
                },
            }
        ],
        "users": [{"name": cluster, "user": {"token": token}}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": cluster}}],
    }
    return yaml.safe_dump(document, sort_keys=False)


def webhook_config(url: str, *, authority: Path, token: str) -> str:
    """Return the API server's token webhook configuration, in kubeconfig format.

    The webhook answers only requests with the bearer token.

    Source:
    https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication
    """
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "authenticator",
        "clusters": [
            {
                "name": "authenticator",
                "cluster": {"server": url, "certificate-authority": str(authority)},
            }
        ],
        "users": [{"name": "api-server", "user": {"token": token}}],
        "contexts": [
            {
                "name": "authenticator",
                "context": {"cluster": "authenticator", "user": "api-server"},
            }
        ],
    }
    return yaml.safe_dump(document, sort_keys=False)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))  # clocks of containers differ
        .not_valid_after(now + _VALIDITY)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = _name("kubernetes")
    return (
        _certificate(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _api_server_names() -> list[x509.GeneralName]:
    return [
        x509.DNSName("localhost"),
        x509.DNSName("kubernetes"),
        x509.DNSName("kubernetes.default"),
        x509.DNSName("kubernetes.default.svc"),
        x509.DNSName("kubernetes.default.svc.cluster.local"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        x509.IPAddress(ipaddress.ip_network(SERVICE_CIDR)[1]),
    ]


def _serving_certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
    names: Sequence[x509.GeneralName],
    usages: Sequence[x509.ObjectIdentifier],
) -> x509.Certificate:
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        _certificate(_name(name), authority.subject, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(issuer_key, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _public_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


# Bind groups that represent EKS access policies to roles with the same permissions.
#
# EKS has its own authorizer for access policies. The sandbox adds a principal with a policy for the
# whole cluster to a group, and every control plane binds that group to a role with the same
# permissions. The roles are Kubernetes defaults, except for `AmazonEKSAdminViewPolicy`, which can
# also read secrets and has no equivalent. Source:
# https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html


GROUPS: Mapping[str, str] = {
    "AmazonEKSAdminPolicy": "sandbox:eks-admin",
    "AmazonEKSAdminViewPolicy": "sandbox:eks-admin-view",
    "AmazonEKSClusterAdminPolicy": "system:masters",
    "AmazonEKSEditPolicy": "sandbox:eks-edit",
    "AmazonEKSViewPolicy": "sandbox:eks-view",
}
"""Group of each emulated policy, by the policy's name."""

BOOTSTRAP_LABEL = "kubernetes.io/bootstrapping"
"""Label of the roles and bindings of every new cluster; the API server sets it on its defaults."""

_API = "/apis/rbac.authorization.k8s.io/v1"
_CONFLICT = 409
_VIEW_ALL = "sandbox:view-all"
_ROLES = {
    "AmazonEKSAdminPolicy": "admin",
    "AmazonEKSAdminViewPolicy": _VIEW_ALL,
    "AmazonEKSEditPolicy": "edit",
    "AmazonEKSViewPolicy": "view",
}


def bind_access_policies(api: KubernetesApi) -> None:
    """Create the bindings of a cluster; existing ones are kept."""
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    _post(api, "clusterroles", _named("ClusterRole", _VIEW_ALL, rules=[everything]))
    for policy, role in _ROLES.items():
        binding = _named(
            "ClusterRoleBinding",
            GROUPS[policy],
            roleRef={
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": role,
            },
            subjects=[
                {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "Group",
                    "name": GROUPS[policy],
                }
            ],
        )
        _post(api, "clusterrolebindings", binding)


def _post(api: KubernetesApi, kind: str, content: dict[str, Any]) -> None:
    try:
        api.post(f"{_API}/{kind}", content)
    except ApiError as error:
        if error.status != _CONFLICT:
            raise


def _named(kind: str, name: str, **content: Any) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": {BOOTSTRAP_LABEL: "eks-access-policies"}},
        **content,
    }


# The entries that EKS writes into aws-auth: the roles of managed node groups.
#
# EKS does so only if the cluster has no access entries; otherwise it creates an access entry.
# Source: https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html


class AwsAuthError(Exception):
    """No entry can be added to the ConfigMap because of its format."""


_NAMESPACE = "/api/v1/namespaces/kube-system/configmaps"
_NAME = "aws-auth"


def map_node_role(api: KubernetesApi, role_arn: str) -> None:
    """Add a node role to aws-auth, which is created if necessary; idempotent.

    The role's path is omitted, because STS never returns it. The entry is appended as text, so that
    the rest of the map is unchanged.

    Raises:
        ApiError: the API server rejected the request; status 409 after a concurrent change.
        ApiUnreachableError: the API server does not respond.
        AwsAuthError: `mapRoles` is not a YAML list.
    """
    name = role_arn.rpartition("/")[2]
    role_arn = f"{role_arn.partition(':role/')[0]}:role/{name}"
    config_map = _existing(api) or _create(api)
    data: dict[str, str] = config_map.get("data") or {}
    text = data.get("mapRoles") or ""
    entries = _entries(text)
    if role_arn in {entry.get("rolearn") for entry in entries if isinstance(entry, dict)}:
        return
    body = {
        # The request is rejected if the object has been changed meanwhile.
        "metadata": {"resourceVersion": config_map["metadata"]["resourceVersion"]},
        "data": {"mapRoles": _with_entry(text, entries, role_arn)},
    }
    api.patch(f"{_NAMESPACE}/{_NAME}", body)


def _existing(api: KubernetesApi) -> dict[str, Any] | None:
    try:
        return api.get(f"{_NAMESPACE}/{_NAME}")
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
        return None


def _create(api: KubernetesApi) -> dict[str, Any]:
    return api.post(
        _NAMESPACE, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": _NAME}}
    )


def _entries(text: str) -> list[Any]:
    try:
        entries = yaml.safe_load(text) or []
    except yaml.YAMLError as error:
        raise AwsAuthError(f"mapRoles of aws-auth is not YAML: {error}") from error
    if not isinstance(entries, list):
        raise AwsAuthError("mapRoles of aws-auth is not a list")
    return entries


def _with_entry(text: str, entries: list[Any], role_arn: str) -> str:
    entry = {
        "groups": ["system:bootstrappers", "system:nodes"],
        "rolearn": role_arn,
        "username": "system:node:{{EC2PrivateDNSName}}",
    }
    separator = "" if not text or text.endswith("\n") else "\n"
    appended = f"{text}{separator}{yaml.safe_dump([entry])}"
    try:
        _entries(appended)
    except AwsAuthError:  # no entry can be appended to a flow sequence or an indented list
        return yaml.safe_dump([*entries, entry])
    return appended
