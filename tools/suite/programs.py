"""The programs that tests need, built or installed before the first test that needs them."""

from __future__ import annotations

from components.catalog.controller_releases import CONTROLLER_RELEASES
from tools.docs.building import docs_python
from tools.engine import ensure_controller, ensure_kubernetes, ensure_plugins, ensure_pulumi
from tools.engine.alert_evaluator import ensure_alert_evaluator
from tools.engine.chromium import ensure_chromium
from tools.engine.progress import Progress
from tools.engine.pytorch import examples_python
from tools.engine.slurm import ensure_slurm, slurm_is_packaged
from tools.parallelcluster.environment import parallelcluster_python


def ensure_programs_of_lives(report: Progress) -> None:
    """Get what a life of a stack in the sandbox needs.

    Raises:
        EngineError: a program cannot be had.
    """
    ensure_plugins(report, ensure_pulumi(report))
    ensure_kubernetes(report)
    parallelcluster_python(report)


def ensure_all_programs(report: Progress) -> None:
    """Get what any test needs.

    Raises:
        EngineError: a program cannot be had.
    """
    ensure_programs_of_lives(report)
    for name in CONTROLLER_RELEASES:
        ensure_controller(name, report)
    ensure_alert_evaluator(report)
    if slurm_is_packaged():
        ensure_slurm(report)
    ensure_chromium(report)
    examples_python(report)
    docs_python(report)
