"""Keys and files of a control plane."""

from __future__ import annotations

import base64
import stat

import yaml
from cryptography import x509

from trainyard.sandbox.kubernetes.credentials import kubeconfig, make_credentials
from trainyard.sandbox.private_files import write_private


def test_every_file_is_its_owners_alone(tmp_path):
    make_credentials(tmp_path / "pki")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "pki").iterdir()}
    assert modes == {0o600}


def test_a_file_that_was_open_to_all_is_closed_when_it_is_written_again(tmp_path):
    file = tmp_path / "kubeconfig"
    file.write_text("old and longer")
    file.chmod(0o644)
    write_private(file, b"new")
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", 0o600)


def test_the_serving_certificate_is_signed_by_the_authority_that_clients_are_given(tmp_path):
    credentials, _ = make_credentials(tmp_path)
    authority = x509.load_pem_x509_certificate(
        base64.b64decode(credentials.certificate_authority_data)
    )
    serving = x509.load_pem_x509_certificate(credentials.serving_certificate.read_bytes())
    serving.verify_directly_issued_by(authority)


def test_tokens_are_never_the_same(tmp_path):
    tokens = {make_credentials(tmp_path / name)[1] for name in ("a", "b")}
    assert len(tokens) == 2
    assert all(len(token) >= 32 for token in tokens)


def test_the_token_is_the_administrators(tmp_path):
    credentials, token = make_credentials(tmp_path)
    line = credentials.token_file.read_text()
    assert line == f'{token},sandbox-administrator,1,"system:masters"\n'


def test_a_kubeconfig_names_everything_after_its_cluster():
    text = kubeconfig(
        cluster="p5-cb",
        endpoint="https://127.0.0.1:1",
        certificate_authority_data="Q0E=",
        token="t",
    )
    document = yaml.safe_load(text)
    assert document["current-context"] == "p5-cb"
    assert document["clusters"][0]["cluster"]["certificate-authority-data"] == "Q0E="
    assert document["users"][0]["user"] == {"token": "t"}
