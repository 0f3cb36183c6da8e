"""An `aws-auth` after years of manual edits: twenty roles, unusual YAML, comments."""

from __future__ import annotations

import json

NODE_ROLE_ARN = "arn:aws:iam::123456789012:role/trainyard/p5-node"
"""Role of the entry that the tests add, with a path, as is common in companies."""
NODE_ROLE_IN_MAP = "arn:aws:iam::123456789012:role/p5-node"
NODE_USERNAME = "system:node:{{EC2PrivateDNSName}}"
NODE_GROUPS = ("system:bootstrappers", "system:nodes")

TWENTY_ROLES = (
    """\
---
# Who may enter this cluster. Ask #platform before you change a line!

- rolearn: arn:aws:iam::123456789012:role/system-nodes   # the oldest group
  username: system:node:{{EC2PrivateDNSName}}
  groups:
    - system:bootstrappers
    - system:nodes
- &node
  groups: [ "system:bootstrappers", 'system:nodes' ]
  rolearn:   arn:aws:iam::123456789012:role/nodes-2
  username: 'system:node:{{EC2PrivateDNSName}}'
- <<: *node
  rolearn: arn:aws:iam::123456789012:role/nodes-3
- <<: *node
  rolearn: arn:aws:iam::123456789012:role/nodes-4	# a tab before this comment

# ----- people -----
-   "rolearn": "arn:aws:iam::123456789012:role/Admins"
    "username": "admin:{{SessionName}}"
    "groups": ["system:masters"]
- {rolearn: arn:aws:iam::123456789012:role/readers, username: reader, groups: [view]}
- groups:
  - view
  # - edit            (until the audit is over)
  rolearn: >-
    arn:aws:iam::123456789012:role/auditors
  username: auditor
- roleARN: arn:aws:iam::123456789012:role/CamelCase
  userName: camel
  groups: []
- rolearn: arn:aws:iam::123456789012:role/with-a-path/that/never/matched
  username: nobody
- rolearn: arn:aws:iam::123456789012:role/p5-node-debug
  username: debug
  groups: [debuggers]
- rolearn: arn:aws:iam::210987654321:role/p5-node
  username: other-account
- rolearn: arn:aws:iam::123456789012:role/ci
  username: "ci:{{SessionNameRaw}}"
  groups: ["ci", "view"]
"""
    + "".join(
        f"""- rolearn: arn:aws:iam::123456789012:role/team-{number}
  username: team-{number}
  groups:
  - team-{number}
"""
        for number in range(1, 9)
    )
    + """\
    # - system:masters   # Bob, 2023-02: never again

# the end; add below this line

"""
)

USERS = """\
- userarn: arn:aws:iam::123456789012:user/alice
  username: alice      # on call
  groups: [system:masters]
- userarn: arn:aws:iam::123456789012:user/bob
  username: bob
"""


def kubeconfig_for(server: str) -> str:
    """Return a kubeconfig with a token that no output may contain."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": {"token": "s3cr3t-token"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )
