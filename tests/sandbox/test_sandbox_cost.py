"""The benchmark of sandboxes measures something, and nothing absurd (its goal is checked where it is printed)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from triathlon.sandbox.namespaces import Namespaces


def test_cost_of_a_few(made: Namespaces) -> None:
    path = Path(__file__).resolve().parents[2] / "benchmarks/sandbox.py"
    spec = importlib.util.spec_from_file_location("benchmark_sandbox", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    cost = module.cost(5, made)
    assert cost.count == 5
    assert 1 < cost.cpu_ms < 200
    assert cost.wall_ms <= cost.longest_ms
