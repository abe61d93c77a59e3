"""What `harness evaluate` costs, beside the candidate's own work. `python benchmarks/evaluate.py [TREE] [--cases DIR]`.

Everything is printed from one run of this script: CPU seconds of the candidate's own processes against those of
everything, our CPU a case, the cost of one fresh sandbox, cases a second at -n 1, 2, 6, memory, and start-up. Run it
on an idle machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from triathlon import protocol
from triathlon.harness import candidate, result, run
from triathlon.harness.fresh import Fresh
from triathlon.harness.load import load_suite
from triathlon.sandbox import BoxSpec, Provider, provider, sweep
from triathlon.scripted.script import parse_script
from triathlon.scripted.server import ScriptedModel
from triathlon.store import Store

BOXES = 60
SAMPLE = 60
"""Cases in the runs at a fixed -n."""
MANY = 600
"""Rows after which memory is looked at again."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", nargs="?", default="reference")
    parser.add_argument("--cases", type=Path)
    parser.add_argument("-k", dest="pattern")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.tree, options.cases, options.pattern)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name:<46} {value}")


def measure(tree: str, cases: Path | None, pattern: str | None) -> dict[str, object]:
    """All figures, by their names."""
    figures: dict[str, object] = {"cores": run.cores(), "load average at start": round(os.getloadavg()[0], 2)}
    figures |= start_up()
    loaded, suite = candidate.load(tree), load_suite(cases)
    sweep()
    with provider() as boxes, tempfile.TemporaryDirectory() as folder:
        planned = run.plan(loaded, suite, protocol.load(), boxes, run.Options(pattern=pattern, fresh=True))
        with Store(Path(folder) / "warm") as store:  # the root is copied and the candidate installed by this
            run.evaluate(run.plan(loaded, suite, protocol.load(), boxes, run.Options(limit=1)), store)
        figures["runner's own start-up with loading, CPU s"] = round(time.process_time(), 3)
        figures |= fresh_boxes(boxes)
        figures |= throughput(planned, Path(folder))
        figures |= whole_run(planned, Path(folder))
        figures |= memory(planned, Path(folder))
    return figures


def whole_run(planned: run.Plan, folder: Path) -> dict[str, object]:
    """The whole suite once at the default -n: who used which CPU."""
    boxes = planned.provider
    own, others = time.process_time(), boxes.cpu_seconds()
    with Store(folder / "whole") as store:
        report = run.evaluate(planned, store)
        candidate_s = sum(row.cpu_s for row in store.rows())
        jobs = len(store.rows())
    own, others = time.process_time() - own, boxes.cpu_seconds() - others
    done = result.result_of(report)
    total = own + others
    return {
        "cases": len(done.cases),
        "controls": len(planned.controls),
        "rows run": jobs,
        "pass rate": done.pass_rate,
        "errors": len(report.errors),
        "wall s": round(report.seconds, 2),
        "CPU s of the candidate's own processes": round(candidate_s, 2),
        "CPU s of everything": round(total, 2),
        "everything / candidate (goal 1.25)": round(total / candidate_s, 3) if candidate_s else None,
        "our CPU a case or control, ms (goal 30)": round(1000 * (total - candidate_s) / jobs, 1),
        "  of which in the runner, ms": round(1000 * own / jobs, 1),
        "  of which sandboxes and their helper, ms": round(1000 * (others - candidate_s) / jobs, 1),
    }


def fresh_boxes(boxes: Provider) -> dict[str, object]:
    """One fresh sandbox with workspace and scripted model, from start to teardown, running `true`."""
    script = parse_script([{"say": "x", "optional": True}])
    wall: list[float] = []
    cpu: list[float] = []
    for _ in range(BOXES):
        began, own, others = time.monotonic(), time.process_time(), boxes.cpu_seconds()
        with boxes.open(BoxSpec()) as box:
            for name in ("a.txt", "b/c.txt"):
                box.write_file(f"{box.workspace}/{name}", b"text\n")
            model = ScriptedModel(script, box.listeners[0], act=lambda action: None, fill=Fresh(0, "b").fill)
            model.start()
            box.start(["true"]).wait(10)
            model.stop()
        wall.append(time.monotonic() - began)
        cpu.append(time.process_time() - own + boxes.cpu_seconds() - others)
    return {
        "fresh sandbox, median CPU ms (goal 15)": round(1000 * statistics.median(cpu), 1),
        "fresh sandbox, median wall ms": round(1000 * statistics.median(wall), 1),
    }


def throughput(planned: run.Plan, folder: Path) -> dict[str, object]:
    """Cases and controls a second with 1, 2 and 6 in flight, over the first cases."""
    figures: dict[str, object] = {}
    for count in (1, 2, 6):
        report = sample(planned, folder, count, 1)
        per_second = round(report.executed / report.seconds, 2)
        figures[f"cases and controls a second at -n {count}"] = per_second
    return figures | {f"peak memory after {3 * report.executed} rows, MB": peak_mb()}


def memory(planned: run.Plan, folder: Path) -> dict[str, object]:
    """Peak memory after many more cases in the same process."""
    repetitions = 1
    while (rows := repetitions * sample_size(planned)) < MANY:
        repetitions += 1
    sample(planned, folder, 0, repetitions)
    return {f"peak memory after {rows} more, MB (goal 150)": peak_mb()}


def sample(planned: run.Plan, folder: Path, in_flight: int, repetitions: int) -> run.Report:
    """The first cases of the plan, run anew."""
    options = run.Options(pattern=planned.options.pattern, limit=SAMPLE, in_flight=in_flight, fresh=True)
    numbers = planned.protocol.change("evaluate.repetitions", repetitions)
    again = run.plan(planned.candidate, planned.suite, numbers, planned.provider, options)
    with Store(folder / f"sample-{in_flight}") as store:
        return run.evaluate(again, store)


def sample_size(planned: run.Plan) -> int:
    """Rows of one sample."""
    cases = planned.cases[:SAMPLE]
    return len(cases) + len(planned.suite.needed(cases))


def peak_mb() -> float:
    """Peak resident memory of this process."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def start_up() -> dict[str, object]:
    """CPU seconds of `triathlon --help`, the best of five."""
    spent: list[float] = []
    for _ in range(6):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with contextlib.suppress(OSError):
            subprocess.run([sys.executable, "-m", "triathlon", "--help"], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"triathlon --help, CPU s (goal 0.3)": round(min(spent[1:]), 3)}


if __name__ == "__main__":
    main()
