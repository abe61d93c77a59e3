"""`oolong run`, top to bottom: skip what is answered, ask window by window, judge, write at once, stop at a limit."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from triathlon.oolong.agents import Agent, Reply
from triathlon.oolong.answers import Answer, Answers, judge
from triathlon.oolong.models import Usage
from triathlon.oolong.windows import RealRow, Row

#: Seconds before the second, third, ... try of a question that ended in an error of the provider.
WAITS = (1.0, 4.0, 15.0)


@dataclass(frozen=True, slots=True)
class Condition:
    """Everything that decides an answer but the row; its hash keys the answers file."""

    model: str
    agent: str
    profile: str
    labels: bool
    simulated: bool

    @property
    def key(self) -> str:
        parts = json.dumps([self.model, self.agent, self.profile, self.labels])
        return hashlib.sha256(parts.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop asking; None is no limit. Cost in dollars, tokens in and out together, seconds for a question."""

    cost: float | None = None
    tokens: int | None = None
    time: float = 600.0
    retries: int = 2


@dataclass(slots=True)
class _Spent:
    usage: Usage
    asked: int = 0
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run came to."""

    asked: int
    from_file: int
    left: int
    usage: Usage
    stopped: str | None


def run(
    rows: Sequence[Row | RealRow],
    agent: Agent,
    condition: Condition,
    answers: Answers,
    *,
    limits: Limits,
    in_flight: int,
    today: date | None = None,
    ended: Callable[[Answer], None] = lambda answer: None,
) -> Ran:
    """Ask every row that the file does not have yet; each answer is in the file before the next is waited for."""
    todo = [row for row in rows if (condition.key, row.key) not in answers.known]
    return asyncio.run(
        _run(todo, len(rows) - len(todo), agent, condition, answers, limits, in_flight, today, ended),
    )


async def _run(
    todo: Sequence[Row | RealRow],
    from_file: int,
    agent: Agent,
    condition: Condition,
    answers: Answers,
    limits: Limits,
    in_flight: int,
    today: date | None,
    ended: Callable[[Answer], None],
) -> Ran:
    spent = _Spent(Usage())
    slots = asyncio.Semaphore(in_flight)

    async def one(row: Row | RealRow) -> None:
        async with slots:
            if spent.stopped is not None:
                return
            reply = await _ask(agent, row, limits)
            answer = judge(
                row,
                reply,
                today=today,
                condition=condition.key,
                model=condition.model,
                agent=condition.agent,
                profile=condition.profile,
                labels=condition.labels,
                simulated=condition.simulated,
            )
            answers.add(answer)
            spent.asked += 1
            spent.usage += reply.usage
            over = _over(spent.usage, limits)
            if over is not None:
                spent.stopped = over
            ended(answer)

    for _, group in groupby(todo, key=lambda row: (row.dataset, row.window)):
        first, *rest = group
        # One question of a window goes first, so that the others find its prompt in the provider's cache.
        await one(first)
        async with asyncio.TaskGroup() as tasks:
            for row in rest:
                tasks.create_task(one(row))
        if spent.stopped is not None:
            break
    return Ran(spent.asked, from_file, len(todo) - spent.asked, spent.usage, spent.stopped)


def _over(spent: Usage, limits: Limits) -> str | None:
    if limits.cost is not None and spent.cost is not None and spent.cost >= limits.cost:
        return f"--cost-limit of ${limits.cost:g} reached"
    if limits.tokens is not None and spent.input_tokens + spent.output_tokens >= limits.tokens:
        return f"--token-limit of {limits.tokens} reached"
    return None


async def _ask(agent: Agent, row: Row | RealRow, limits: Limits) -> Reply:
    """One question with its tries; what still fails is an answer with an error, never a hole."""
    from triathlon.errors import TriathlonError

    said = ""
    for attempt in range(limits.retries + 1):
        try:
            return await asyncio.wait_for(agent.ask(row), limits.time + 30)
        except TriathlonError:
            raise  # a user's mistake or a sandbox of ours: the run ends, what was answered stays
        except TimeoutError:
            return Reply(None, "timeout", error=f"no answer after {limits.time:g} s")
        except Exception as error:  # providers raise all kinds
            said = f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"
            if attempt < limits.retries:
                await asyncio.sleep(WAITS[min(attempt, len(WAITS) - 1)])
    return Reply(None, "error", error=said)
