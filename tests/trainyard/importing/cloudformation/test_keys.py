"""The keys of resource types come from the schemas of CloudFormation."""

from __future__ import annotations

from tools.importing.generate import cloudformation_table

SCHEMA = {
    "properties": {
        "Id": {"type": "string"},
        "Name": {"type": "string"},
        "Count": {"type": "integer"},
        "Policy": {"type": ["object", "string"]},
        "Labels": {"type": "object", "patternProperties": {".*": {"type": "string"}}},
        "Parts": {"type": "array", "items": {"$ref": "#/definitions/Part"}},
        "Zones": {"type": "array", "items": {"type": "string"}},
    },
    "definitions": {
        "Part": {
            "type": "object",
            "properties": {"On": {"type": "boolean"}, "Below": {"$ref": "#/definitions/Part"}},
        }
    },
    "readOnlyProperties": ["/properties/Id"],
}


def test_the_table_has_what_a_template_can_set():
    rows = dict(
        line.removeprefix("Resources.AWS::X::Y.Properties.").split()
        for line in cloudformation_table({"AWS::X::Y": SCHEMA}).splitlines()
        if line.startswith("Resources.AWS::X::Y.Properties.")
    )
    assert rows == {
        "Name": "text",
        "Count": "integer",
        "Policy": "any",
        "Labels": "map",
        "Parts": "sections",
        "Parts.On": "boolean",
        "Parts.Below": "any",
        "Zones": "list",
    }
