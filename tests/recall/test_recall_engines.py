"""The engines that cannot run here, against fakes that follow their documented interfaces."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from triathlon.errors import UsageError
from triathlon.recall.engines import Options, open_engine
from triathlon.recall.engines.llama_cpp import LlamaCppEngine
from triathlon.recall.engines.openai import OpenAIEngine, _poster
from triathlon.recall.engines.sglang import SglangEngine
from triathlon.recall.engines.thinctx import ThinctxEngine
from triathlon.recall.engines.vllm import VllmEngine
from triathlon.recall.read import EngineError, Read, read_all

VOCABULARY = 11


def logp(ids: Any) -> Any:
    """Log-probabilities after some tokens: a function of all of them."""
    seed = int(sum((i + 1) * (int(t) + 3) for i, t in enumerate(ids))) % 100_003
    values = np.random.default_rng(seed).normal(size=VOCABULARY) * 3
    return values - np.log(np.exp(values).sum())


def reads() -> list[Read]:
    make = np.random.default_rng(0)
    base = make.integers(1, VOCABULARY, 12)
    out = []
    for number, cut in enumerate((3, 7, 12)):
        ids = np.concatenate([base[:cut], make.integers(1, VOCABULARY, 12 - cut)]).astype(np.int32)
        positions = (2, 5, 11)
        tokens = tuple((int(ids[p]), 4) if p == 5 else (int(ids[p]),) for p in positions)
        out.append(Read(ids[:11], positions, tokens, f"s{number}"))
    return out


def check(engine: Any) -> None:
    for read, answer in zip(reads(), read_all(engine, reads()), strict=True):
        for position, row, tokens, top in zip(read.positions, answer.logps, read.tokens, answer.top, strict=True):
            true = logp(read.ids[:position])
            assert row == pytest.approx([true[t] for t in tokens])
            if top != -1:
                assert top == true.argmax()
            else:
                assert true.argmax() != tokens[0]


class FakeVllm:
    """`LLM.generate` with `prompt_logprob_token_ids`, as its interface is documented."""

    def __init__(self, lose: bool = False, drop: bool = False) -> None:
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=100, max_logprobs=20))
        self.lose, self.drop, self.calls = lose, drop, 0

    def get_tokenizer(self) -> None:
        return None

    def generate(self, prompts: list[dict[str, Any]], params: list[Any]) -> list[Any]:
        self.calls += 1
        outs = []
        for prompt, asked in zip(prompts, params, strict=True):
            ids, start = prompt["prompt_token_ids"], asked["prompt_logprob_start"]
            rows = asked["prompt_logprob_token_ids"]
            assert len(rows) == len(ids) - 1 - start and asked["max_tokens"] == 1
            width = max(map(len, rows))
            table = []
            for i, row in enumerate(rows):
                true = logp(ids[: start + i + 1])
                table.append([true[t] if t >= 0 else -np.inf for t in [*row, *[-1] * (width - len(row))]])
            tops: list[Any] = [None]
            for p in range(1, len(ids)):
                true = logp(ids[:p])
                order = np.argsort(-true)
                tops.append(
                    {int(t): SimpleNamespace(rank=int(np.where(order == t)[0][0]) + 1) for t in (ids[p], order[0])}
                )
            lost = self.lose and not asked["skip_reading_prefix_cache"]
            table = None if lost else table[1:] if self.drop else table  # type: ignore[assignment]
            outs.append(SimpleNamespace(prompt_token_id_logprobs=table, prompt_logprobs=tops))
        return outs


def test_vllm() -> None:
    check(VllmEngine(FakeVllm(), dict, version="0.33.0"))
    swallowed = FakeVllm(lose=True)
    check(VllmEngine(swallowed, dict))
    assert swallowed.calls == 2
    with pytest.raises(EngineError, match="s0: vllm gave 9 rows, 10 were asked"):
        VllmEngine(FakeVllm(drop=True), dict).read_many(reads())


class FakeSglang:
    """`Engine.generate` with `token_ids_logprob`: entry j is about prompt token start + j, the first one is empty."""

    def __init__(self, drop: bool = False) -> None:
        model_config = SimpleNamespace(context_len=50)
        self.tokenizer_manager = SimpleNamespace(tokenizer=None, model_config=model_config)
        self.drop = drop

    def generate(self, *, input_ids: Any, logprob_start_len: int, token_ids_logprob: Any, **rest: Any) -> Any:
        assert rest["return_logprob"] and rest["top_logprobs_num"] == 1
        asked: list[Any] = [None]
        best: list[Any] = [None]
        for p in range(logprob_start_len + 1, len(input_ids)):
            true = logp(input_ids[:p])
            asked.append([(float(true[t]), t, None) for t in token_ids_logprob])
            best.append([(float(true.max()), int(true.argmax()), None)])
        if self.drop:
            asked.pop()
        return {"meta_info": {"input_token_ids_logprobs": asked, "input_top_logprobs": best}}


def test_sglang() -> None:
    engine = SglangEngine(FakeSglang())
    check(engine)
    assert engine.limit == 48
    with pytest.raises(EngineError, match="sglang gave"):
        SglangEngine(FakeSglang(drop=True)).read_many(reads())


class FakeLlama:
    """`Llama` with logits_all: `eval` goes on from `n_tokens`, `scores` has a row a token."""

    def __init__(self) -> None:
        self.n_tokens = 0
        self.seen: list[int] = []
        self.scores = np.full((64, VOCABULARY), np.nan, dtype=np.float32)
        self.evaluated = 0

    def n_ctx(self) -> int:
        return 64

    def reset(self) -> None:
        self.n_tokens = 0

    def eval(self, tokens: list[int]) -> None:
        self.seen = self.seen[: self.n_tokens] + tokens
        for i in range(self.n_tokens, len(self.seen)):
            self.scores[i] = logp(self.seen[: i + 1]) + 5
        self.evaluated += len(tokens)
        self.n_tokens = len(self.seen)


def test_llama_cpp_shares_prefixes() -> None:
    llama = FakeLlama()
    engine = LlamaCppEngine(llama)
    for read, answer in zip(reads(), engine.read_many(reads()), strict=True):
        for position, row, tokens in zip(read.positions, answer.logps, read.tokens, strict=True):
            assert row == pytest.approx([logp(read.ids[:position])[t] for t in tokens], abs=1e-5)
    assert llama.evaluated < 33
    again = engine.read(reads()[0].ids, reads()[0].positions, reads()[0].tokens)
    assert again.logps == engine.read_many(reads())[0].logps


class _Server(BaseHTTPRequestHandler):
    """A completions server; what it gets wrong is set on the class."""

    echo = True
    code = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["prompt"]
        assert self.path == "/v1/completions" and body["echo"] and body["logprobs"] >= 1
        values: list[Any] = [None]
        tops: list[Any] = [None]
        for p in range(1, len(prompt)):
            true = logp(prompt[:p])
            values.append(float(true[prompt[p]]))
            tops.append({"best": float(true.max()), "own": float(true[prompt[p]])})
        values, tops = [*values, -1.0], [*tops, {"x": -1.0}]  # the generated token
        if not self.echo:
            values, tops = values[-1:], tops[-1:]
        logprobs = {"token_logprobs": values, "top_logprobs": tops}
        data = json.dumps({"choices": [{"logprobs": logprobs}]}).encode()
        self.send_response(self.code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[tuple[str, Any]]:
    handler = type("Handler", (_Server,), {})
    made = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}/v1/completions", handler
    made.shutdown()
    thread.join()
    made.server_close()


def test_openai_echo(server: tuple[str, Any]) -> None:
    url, handler = server
    check(OpenAIEngine(_poster(url, 10), name="m"))
    handler.echo = False
    with pytest.raises(EngineError, match="ignores `echo`"):
        OpenAIEngine(_poster(url, 10), name="m").read(reads()[0].ids, (2,), ((1,),))
    handler.code = 500
    with pytest.raises(EngineError, match="answered 500"):
        OpenAIEngine(_poster(url, 10), name="m").read(reads()[0].ids, (2,), ((1,),))


def test_thinctx_is_looked_for() -> None:
    class Engine:
        def score(self, ids: Any, positions: Any, tokens: Any) -> Any:
            rows = [logp(ids[:p]) for p in positions]
            return [int(r.argmax()) for r in rows], [[r[t] for t in row] for r, row in zip(rows, tokens, strict=True)]

    check(ThinctxEngine(Engine(), version="1.1.0"))
    with pytest.raises(UsageError, match=r"needs thinctx >= 1\.1"):
        ThinctxEngine(object(), version="1.0.2")


@pytest.mark.parametrize("name", ["vllm", "sglang", "llama.cpp", "thinctx"])
def test_an_engine_that_is_not_installed_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, name.replace("llama.cpp", "llama_cpp"), None)
    with pytest.raises(UsageError, match="install"):
        open_engine(name, "m", Options())


def test_an_unknown_engine_and_a_missing_server_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="not known"):
        open_engine("mlx", "m", Options())
    with pytest.raises(UsageError, match="base_url"):
        open_engine("openai", "m", Options())
