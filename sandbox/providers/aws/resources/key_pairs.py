"""Key pairs whose public half a program imports.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/ec2/keypair/
"""

from __future__ import annotations

from sandbox.providers.aws.account import Account, retag_ec2, tag_map, tag_specifications
from sandbox.providers.aws.resource import ResourceType, Values


def _import(account: Account, inputs: Values) -> tuple[str, Values]:
    account.client("ec2").import_key_pair(
        KeyName=inputs["keyName"],
        PublicKeyMaterial=inputs["publicKey"].encode(),
        TagSpecifications=tag_specifications("key-pair", inputs),
    )
    return inputs["keyName"], {}


def _read(account: Account, name: str) -> Values:
    found = account.client("ec2").describe_key_pairs(KeyNames=[name], IncludePublicKey=True)
    (pair,) = found["KeyPairs"]
    return {
        "arn": account.arn("ec2", f"key-pair/{name}"),
        "fingerprint": pair["KeyFingerprint"],
        "keyName": name,
        "keyPairId": pair["KeyPairId"],
        "keyType": pair["KeyType"],
        "publicKey": pair["PublicKey"],
        "tags": tag_map(pair.get("Tags")) or None,
    }


def _update(account: Account, name: str, olds: Values, news: Values) -> None:
    found = account.client("ec2").describe_key_pairs(KeyNames=[name])["KeyPairs"]
    retag_ec2(account, found[0]["KeyPairId"], olds, news)


def _delete(account: Account, name: str, outputs: Values) -> None:
    account.client("ec2").delete_key_pair(KeyName=name)


KEY_PAIR = ResourceType(
    token="aws:ec2/keyPair:KeyPair",
    inputs=frozenset({"keyName", "publicKey", "tags"}),
    required=frozenset({"publicKey"}),
    computed=frozenset({"arn", "fingerprint", "keyPairId", "keyType"}),
    replace_on=frozenset({"keyName", "publicKey"}),
    name_property="keyName",
    name_limit=255,
    create=_import,
    read=_read,
    update=_update,
    delete=_delete,
)

RESOURCE_TYPES = (KEY_PAIR,)
