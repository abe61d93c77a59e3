"""How a question is asked: with the window in the prompt, or as a file in the workspace of a harness."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from triathlon.errors import UsageError
from triathlon.oolong.gateway import Gateway
from triathlon.oolong.models import Completion, Model, Usage
from triathlon.oolong.prompts import CONTEXT_FILE, Profile, guard, messages, window_of
from triathlon.oolong.windows import RealRow, Row

if TYPE_CHECKING:
    from triathlon.harness.install import Installed
    from triathlon.sandbox import Provider

#: More than this of a response is never an answer; it is cut and the sample counted as truncated.
MAX_RESPONSE = 1_000_000


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of asking one question."""

    text: str | None
    stop: str = "stop"
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    error: str | None = None


class Agent(Protocol):
    """A way to ask; `name` is what stands in every result."""

    name: str

    async def ask(self, row: Row | RealRow) -> Reply:
        """Ask one question. Errors of the provider pass through."""
        ...

    def close(self) -> None: ...


class PromptAgent:
    """The window in the system message, the question as the user's: as in the paper. No tools."""

    name = "prompt"

    def __init__(self, model: Model, profile: Profile, *, labels: bool = False) -> None:
        self._model, self._profile, self._labels = model, profile, labels

    async def ask(self, row: Row | RealRow) -> Reply:
        said = messages(row, self._profile, labels=self._labels)
        if not self._labels:
            check_guard(row, *(message["content"] for message in said))
        began = time.monotonic()
        completion = await self._model.complete(row, said)
        return Reply(completion.text, completion.stop, completion.usage, time.monotonic() - began)

    def close(self) -> None:
        """Nothing is held."""


class CandidateAgent:
    """A harness, run headless in a fresh sandbox with the window as a read-only file and the model by the gateway."""

    def __init__(
        self,
        name: str,
        installed: Installed,
        provider: Provider,
        model: Model,
        profile: Profile,
        *,
        labels: bool = False,
        time_limit: float = 600.0,
        max_calls: int = 100,
    ) -> None:
        self.name = f"file:{name}"
        self._installed, self._provider, self._model, self._profile = installed, provider, model, profile
        self._labels, self._time_limit, self._max_calls = labels, time_limit, max_calls

    async def ask(self, row: Row | RealRow) -> Reply:
        window = window_of(row, labels=self._labels)
        prompt = f"{self._profile.file.format(file=CONTEXT_FILE)}\n\n{row.question}"
        if not self._labels:
            check_guard(row, window, prompt)
        loop = asyncio.get_running_loop()

        def complete(said: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Completion:
            return asyncio.run_coroutine_threadsafe(self._model.complete(row, said, tools), loop).result()

        return await asyncio.to_thread(self._run, window, prompt, complete)

    def _run(self, window: str, prompt: str, complete: Any) -> Reply:
        from triathlon.harness.install import COMMAND, PREFIX
        from triathlon.sandbox import BoxSpec

        began = time.monotonic()
        if self._installed.failure is not None:
            return Reply(None, "error", error=self._installed.failure)
        with self._provider.open(BoxSpec(layers=self._installed.layers)) as box:
            path = f"{box.workspace}/{CONTEXT_FILE}"
            box.write_file(path, window.encode(), 0o444)
            gateway = Gateway(box.listeners[0], complete, max_calls=self._max_calls)
            gateway.start()
            try:
                done = box.exec(
                    [box.inside(f"{PREFIX}/{COMMAND}"), "-p", prompt, "--no-stdin", "--no-persist"],
                    env={"HARNESS_BASE_URL": f"{box.url()}/v1", "HARNESS_API_KEY": "none"},
                    timeout=self._time_limit,
                    max_bytes=MAX_RESPONSE,
                )
                box.kill_all()
            finally:
                gateway.stop()
        seconds = time.monotonic() - began
        text = done.stdout.decode("utf-8", "replace").removesuffix("\n")
        if gateway.errors:
            return Reply(text or None, "error", gateway.usage, seconds, gateway.errors[-1])
        if done.timed_out:
            return Reply(text or None, "timeout", gateway.usage, seconds, f"still ran after {self._time_limit:g} s")
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()[-500:]
            return Reply(text or None, "error", gateway.usage, seconds, f"exit {done.returncode}: {said}")
        return Reply(text, "length" if len(done.stdout) >= MAX_RESPONSE else "stop", gateway.usage, seconds)

    def close(self) -> None:
        self._provider.close()


def check_guard(row: Row | RealRow, *texts: str) -> None:
    """Refuse to show an ordinary run what only the labels condition may see. Raises UsageError."""
    for text in texts:
        found = guard(row, text)
        if found is not None:
            raise UsageError(f"row {row.key}: what the run would see holds {found}; use --labels to run with labels")


def open_agent(
    name: str, model: Model, profile: Profile, *, labels: bool, time_limit: float, sandbox: str = "namespaces"
) -> Agent:
    """The agent of a name: `prompt`, or `file:TREE` with a candidate tree (or `reference`). Raises UsageError."""
    if name == "prompt":
        return PromptAgent(model, profile, labels=labels)
    kind, _, tree = name.partition(":")
    if kind != "file":
        raise UsageError(f"unknown agent {name!r}; known: prompt, file (the reference harness), file:TREE")
    from triathlon.harness.candidate import load
    from triathlon.harness.install import install
    from triathlon.sandbox import Limits, provider

    candidate = load(tree or "reference")
    opened = provider(sandbox)
    try:
        installed = install(candidate, opened, Limits())
    except BaseException:
        opened.close()
        raise
    return CandidateAgent(
        f"{candidate.name}@{candidate.sha256[:12]}",
        installed,
        opened,
        model,
        profile,
        labels=labels,
        time_limit=time_limit,
    )
