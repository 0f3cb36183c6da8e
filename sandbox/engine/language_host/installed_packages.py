"""Print the packages of this environment that carry a pulumi-plugin.json, as a JSON array.

Every Pulumi package puts that file into its one top-level module, so one look at each directory
of the import path finds them all; reading every distribution's list of files takes ten times as
long.
"""

import importlib.metadata
import json
import pathlib
import sys

packages = {}
for directory in dict.fromkeys(sys.path):
    for path in sorted(pathlib.Path(directory or ".").glob("*/pulumi-plugin.json")):
        name = path.parent.name.replace("_", "-")
        if name in packages:
            continue
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = ""
        plugin = json.loads(path.read_text(encoding="utf-8"))
        packages[name] = {"name": name, "version": version, "plugin": plugin}
json.dump(list(packages.values()), sys.stdout)
