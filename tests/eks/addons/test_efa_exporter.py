"""What the EFA exporter writes: counters of the EFA driver, in the text format of Prometheus."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.eks.addons.test_registry import controllers
from tests.support.monitoring import EFA_EXPORTER_COUNTERS
from tests.support.processes import PATIENCE
from trainyard.components.eks.addons import efa_exporter
from trainyard.components.monitoring.accelerators import EFA_IMPAIRED, EFA_UNRESPONSIVE

LINE = re.compile(r'node_amazonefa_(\w+)\{device="(\w+)",port="(\d)"\} (\d+)')
DEVICES = ("rdmap79s0", "rdmap80s0")


def written(directory: Path) -> str:
    """Return the file after one run of the script, on the sysfs in a directory."""
    file = directory / "metrics" / "efa.prom"
    file.parent.mkdir(exist_ok=True)
    (pod,) = (each["spec"]["template"]["spec"] for each in controllers(efa_exporter.EFA_EXPORTER))
    (writer,) = (each for each in pod["containers"] if "command" in each)
    *shell, script = writer["command"]
    for mounted in writer["volumeMounts"]:
        own = directory / mounted["name"]
        script = script.replace(f"{mounted['mountPath']}/", f"{own}/")
    script = script.replace(f"sleep {efa_exporter.SECONDS}", "exit")
    done = subprocess.run(
        [*shell, script], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert list(file.parent.iterdir()) == [file]
    return file.read_text(encoding="utf-8")


def test_every_counter_of_every_device_has_the_name_that_the_exporter_of_aws_gives_it(
    tmp_path: Path,
) -> None:
    values: dict[tuple[str, str], str] = {}
    for device in DEVICES:
        counters = tmp_path / "sys" / "class" / "infiniband" / device / "ports" / "1/hw_counters"
        counters.mkdir(parents=True)
        for name in EFA_EXPORTER_COUNTERS:
            values[name, device] = str(2**40 + len(values))
            (counters / name).write_text(f"{values[name, device]}\n", encoding="utf-8")
    lines = [LINE.fullmatch(line) for line in written(tmp_path).splitlines()]
    found = [line.groups() for line in lines if line is not None]
    assert len(found) == len(lines) == len(values)
    assert {(name, device): value for name, device, _, value in found} == values
    assert {port for _, _, port, _ in found} == {"1"}
    assert {EFA_UNRESPONSIVE, EFA_IMPAIRED} <= EFA_EXPORTER_COUNTERS


def test_a_node_without_devices_has_no_counters(tmp_path: Path) -> None:
    assert written(tmp_path) == ""
    (tmp_path / "sys" / "class" / "infiniband" / "rdmap79s0" / "ports" / "1").mkdir(parents=True)
    assert written(tmp_path) == ""
