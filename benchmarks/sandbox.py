"""What one fresh sandbox costs: open, run `true`, close.

    python benchmarks/sandbox.py [N]

CPU seconds are of the runner, the helper and everything that ran inside, without the one-off start of the provider.
Work that the kernel puts off (tearing down a network namespace) belongs to no process and is not in them.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

from triathlon.sandbox import BoxSpec, Provider, provider


@dataclass(frozen=True)
class Cost:
    """Of one sandbox, in milliseconds: CPU, and the median and the longest wall time.

    `bare_ms` is the CPU of a bare `true` in the same run: a loaded machine makes both dearer.
    """

    cpu_ms: float
    bare_ms: float
    wall_ms: float
    longest_ms: float
    count: int


def cost(count: int = 50, made: Provider | None = None) -> Cost:
    """Mean CPU and median wall time of `count` sandboxes, one after the other."""
    where = made or provider("namespaces")
    try:
        _once(where)
        before, walls = _spent(where), []
        for _ in range(count):
            began = time.perf_counter()
            _once(where)
            walls.append(time.perf_counter() - began)
        cpu = (_spent(where) - before) / count
    finally:
        if made is None:
            where.close()
    return Cost(cpu * 1000, _bare(count) * 1000, statistics.median(walls) * 1000, max(walls) * 1000, count)


def _once(where: Provider) -> None:
    with where.open(BoxSpec()) as box:
        if box.start(["true"]).wait(60) != 0:
            raise SystemExit("`true` did not succeed in the sandbox")


def _bare(count: int) -> float:
    before = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(count):
        subprocess.run(["true"], check=True)
    after = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(z.ru_utime + z.ru_stime - a.ru_utime - a.ru_stime for a, z in zip(before, after, strict=True)) / count


def _spent(where: Provider) -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    time.sleep(0.05)  # the helper reaps the last sandbox
    return own.ru_utime + own.ru_stime + where.cpu_seconds()


if __name__ == "__main__":
    print(json.dumps(asdict(cost(int(sys.argv[1]) if len(sys.argv) > 1 else 50)), indent=1))
