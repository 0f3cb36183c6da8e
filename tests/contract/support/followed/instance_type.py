"""Generate the catalog as if a new moto had an answer of EC2 about p9.48xlarge."""

from typing import Any

from tools.catalog import generate

NEW, LIKE = "p9.48xlarge", "p5.48xlarge"

if __name__ == "__main__":
    types, zone_ids = generate.bundled_answers()
    answer: dict[str, Any] = {**types[LIKE], "InstanceType": NEW}
    records = generate.catalog_records({**types, NEW: answer}, {**zone_ids, NEW: zone_ids[LIKE]})
    generate.DATA_FILE.write_text(generate.render(records, "a new moto"), encoding="utf-8")
