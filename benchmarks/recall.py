"""Speed and memory of the recall reader, as ratios against two simpler ones in the same run.

    python benchmarks/recall.py [--quick] [--threads 1,2] [--lengths 2048,4096] [--models smollm2,big] [--json OUT]

naive: whole sequences, full logits, one at a time. shared: the text without the rule read once a context, full
logits. ours: the trie, the head on the asked rows. bound: tokens in the trie times the measured rate of one plain
forward pass of that length without a head. The workload is rules: 2 contexts x 5 items, with and without, rule at 12 %
or 40 %, two targets an item. Every variant runs in a process of its own, so that its peak of resident memory is its
own; CPU seconds are user + system of that process, without loading. `big` is a random small model with a vocabulary
of 248,320.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

CONTEXTS, ITEMS = 2, 5
GOALS = {
    "ours / naive, big": 0.40,
    "ours / naive, smollm2": 0.50,
    "ours / shared": 0.75,
    "ours / bound": 1.15,
    "memory ours / naive, big, 4096": 0.10,
}


def workload(length: int, vocabulary: int, contexts: int) -> list[Any]:
    """Reads of `contexts` contexts: per item the text without the rule and with it."""
    from triathlon.recall.read import Read

    make = np.random.default_rng(7)
    reads = []
    for context in range(contexts):
        base = make.integers(5, vocabulary, length).astype(np.int32)
        for item in range(ITEMS):
            at = int(length * (0.12 if item % 2 == 0 else 0.40))
            rule = make.integers(5, vocabulary, 24).astype(np.int32)
            longer = np.concatenate([base[:at], rule, base[at : length - len(rule)]])
            places = sorted({int(length * (0.55 + 0.08 * item)), int(length * (0.60 + 0.07 * item))})
            tokens = tuple((int(t), int(base[p])) for t, p in zip(make.integers(5, vocabulary, 2), places, strict=True))
            moved = tuple(p + len(rule) for p in places)
            reads.append(Read(base, tuple(places), tokens, f"{context}/{item} without"))
            reads.append(Read(longer, moved, tokens, f"{context}/{item} with"))
    return reads


def load(name: str) -> Any:
    """A model: SmolLM2-135M in fp32, or a random one with the vocabulary of Qwen3.5."""
    import torch
    from transformers import AutoModelForCausalLM, LlamaConfig

    from triathlon.recall.engines import attention
    from triathlon.recall.engines.gguf import resolve

    implementation = attention.register()
    if name == "smollm2":
        return AutoModelForCausalLM.from_pretrained(
            resolve("smollm2"), attn_implementation=implementation, dtype=torch.float32
        )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=248_320, hidden_size=512, intermediate_size=1408, num_hidden_layers=10, num_attention_heads=8,
        num_key_value_heads=4, max_position_embeddings=8192, tie_word_embeddings=True,
    )  # fmt: skip
    return AutoModelForCausalLM.from_config(config, attn_implementation=implementation, dtype=torch.float32)


def whole(model: Any, ids: Any, read: Any, out: dict[Any, Any]) -> None:
    """One forward pass with full logits over the sequence, and the asked numbers."""
    import torch

    with torch.inference_mode():
        logits = model(torch.from_numpy(ids.astype(np.int64))[None], use_cache=False).logits[0]
        logp = torch.log_softmax(logits.float(), dim=-1)
        for position, tokens in zip(read.positions, read.tokens, strict=True):
            top = int(logp[position - 1].argmax())
            out[read.name, position] = (top, [float(logp[position - 1, t]) for t in tokens])


def naive(model: Any, reads: list[Any]) -> dict[Any, Any]:
    """Every sequence whole."""
    out: dict[Any, Any] = {}
    for read in reads:
        whole(model, read.ids, read, out)
    return out


def shared(model: Any, reads: list[Any]) -> dict[Any, Any]:
    """The text without the rule once a context."""
    import torch

    out: dict[Any, Any] = {}
    last, logp = None, None
    for read in sorted(reads, key=lambda r: (r.name.split("/")[0], not r.name.endswith("without"))):
        if read.name.endswith("without"):
            if last is None or not np.array_equal(last, read.ids):
                with torch.inference_mode():
                    ids = torch.from_numpy(read.ids.astype(np.int64))[None]
                    logp = torch.log_softmax(model(ids, use_cache=False).logits[0].float(), dim=-1)
                last = read.ids
            for position, tokens in zip(read.positions, read.tokens, strict=True):
                row = logp[position - 1]
                out[read.name, position] = (int(row.argmax()), [float(row[t]) for t in tokens])
        else:
            logp, last = None, None
            whole(model, read.ids, read, out)
    return out


def ours(model: Any, reads: list[Any]) -> dict[Any, Any]:
    """Through the engine, a context at a time."""
    from triathlon.recall.engines.transformers import TransformersEngine

    engine = TransformersEngine(model)
    out: dict[Any, Any] = {}
    for context in sorted({r.name.split("/")[0] for r in reads}):
        some = [r for r in reads if r.name.split("/")[0] == context]
        for read, answer in zip(some, engine.read_many(some), strict=True):
            for position, top, row in zip(read.positions, answer.top, answer.logps, strict=True):
                out[read.name, position] = (top, list(row))
    return out


def bound(model: Any, reads: list[Any]) -> dict[Any, Any]:
    """One plain forward pass of the body; the caller multiplies."""
    import torch

    with torch.inference_mode():
        model.base_model(torch.from_numpy(reads[0].ids.astype(np.int64))[None], use_cache=False)
    return {}


VARIANTS: dict[str, Callable[[Any, list[Any]], dict[Any, Any]]] = {
    "naive": naive,
    "shared": shared,
    "ours": ours,
    "bound": bound,
}


def peak_mib() -> float:
    """Peak of resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child(variant: str, name: str, length: int, threads: int, contexts: int) -> dict[str, Any]:
    """Run one variant here and say what it cost."""
    import torch

    from triathlon.recall import trie

    torch.set_num_threads(threads)
    model = load(name).eval()
    vocabulary = model.get_input_embeddings().weight.shape[0]
    reads = workload(length, vocabulary, contexts)
    bound(model, [type(reads[0])(reads[0].ids[:64], (64,), ((1,),), "warm")])
    loaded, began = peak_mib(), time.process_time()
    out = VARIANTS[variant](model, reads)
    spent = time.process_time() - began
    size = sum(trie.size(trie.build([r for r in reads if r.name.startswith(f"{c}/")])) for c in range(contexts))
    if variant == "bound":
        spent *= size / len(reads[0].ids)
    numbers = [[list(k), v[0], v[1]] for k, v in out.items()]
    return {"cpu": spent, "over_mib": peak_mib() - loaded, "trie_tokens": size, "numbers": numbers}


def measure(variant: str, name: str, length: int, threads: int, contexts: int) -> dict[str, Any]:
    """Run one variant in a process of its own."""
    command = [sys.executable, __file__, "--child", variant, name, str(length), str(threads), str(contexts)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def differences(a: dict[str, Any], b: dict[str, Any]) -> tuple[float, int]:
    """Largest difference of two variants' effects in nats, and top-1 flips."""
    first, second = ({(k[0], k[1]): (top, row) for k, top, row in x["numbers"]} for x in (a, b))

    def effects(found: dict[Any, Any]) -> list[float]:
        without = [v for k, v in sorted(found.items()) if k[0].endswith("without")]
        with_rule = [v for k, v in sorted(found.items()) if k[0].endswith("with")]
        return [w[1][0] - o[1][0] for o, w in zip(without, with_rule, strict=True)]

    worst = max(abs(x - y) for x, y in zip(effects(first), effects(second), strict=True))
    return worst, sum(first[k][0] != second[k][0] for k in first)


def metrics_speed(count: int) -> float:
    """CPU seconds to report on `count` targets."""
    from triathlon.recall import report
    from triathlon.recall.scores import Scores

    pick = np.random.default_rng(0)
    values = pick.normal(size=(count, 2)) * 2 - 5
    families, placements = ("substitution", "redirect", "required"), ("system", "user")
    records: list[dict[str, Any]] = [
        {
            "set": "rules_en", "length": ("8k", "32k")[i % 2], "item": i // 8, "target": i % 8, "status": "ok",
            "context": str(i // 8 % 16), "family": families[i % 3], "placement": placements[i // 3 % 2],
            "first": i % 8 == 0, "mentioned": False, "distance": 600 + i % 7000, "depth": i % 100 / 100, "char": i,
            "without": float(values[i, 0]), "with": float(values[i, 1]), "top": [1, 2],
        }
        for i in range(count)
    ]  # fmt: skip
    scores = Scores(records, "ids", {"rules_en/8k": "x", "rules_en/32k": "y"}, {"name": "t", "sha256": "s"}, {})
    began = time.process_time()
    report.build(scores)
    return time.process_time() - began


def main() -> None:
    """Print the table, the goals and whether they are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=5)
    parser.add_argument("--quick", action="store_true", help="one context, 1,024 tokens, one thread")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--lengths", default="2048,4096")
    parser.add_argument("--models", default="smollm2,big")
    parser.add_argument("--contexts", type=int, default=CONTEXTS)
    parser.add_argument("--json", dest="out")
    options = parser.parse_args()
    if options.child:
        variant, name, length, threads, contexts = options.child
        print(json.dumps(child(variant, name, int(length), int(threads), int(contexts))))
        return
    if options.quick:
        options.threads, options.lengths, options.contexts = "1", "1024", 1
    rows = []
    print("model    length threads variant     CPU s  /naive /shared  peak MiB")
    for name in options.models.split(","):
        for length in map(int, options.lengths.split(",")):
            for threads in map(int, options.threads.split(",")):
                found = {v: measure(v, name, length, threads, options.contexts) for v in VARIANTS}
                worst, flips = differences(found["naive"], found["ours"])
                for variant, value in found.items():
                    ratios = [value["cpu"] / found[v]["cpu"] for v in ("naive", "shared")]
                    print(
                        f"{name:8} {length:6} {threads:7} {variant:8} {value['cpu']:8.1f} {ratios[0]:7.2f} "
                        f"{ratios[1]:7.2f} {value['over_mib']:9.0f}",
                        flush=True,
                    )
                    del value["numbers"]
                over = found["ours"]["cpu"] / found["bound"]["cpu"]
                memory = found["ours"]["over_mib"] / max(1.0, found["naive"]["over_mib"])
                print(
                    f"  ours / bound {over:.2f}, memory ours / naive {memory:.2f}, effects {worst:.1e}, {flips} flips"
                )
                rows.append(
                    {"model": name, "length": length, "threads": threads, "difference": worst, "flips": flips} | found
                )
    million = metrics_speed(1_000_000 if not options.quick else 100_000)
    print(f"metrics over {'1,000,000' if not options.quick else '100,000'} targets: {million:.1f} CPU s")
    print("goals:", ", ".join(f"{k} <= {v}" for k, v in GOALS.items()), "and effects within 1e-4 nats, no flip")
    if options.out:
        with open(options.out, "w", encoding="utf-8") as handle:
            json.dump({"rows": rows, "metrics_cpu_s": million}, handle)


if __name__ == "__main__":
    main()
