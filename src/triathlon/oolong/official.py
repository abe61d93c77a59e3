"""The official Oolong scorers, bug for bug: `synth` and `dnd` (the real split).

The behaviour is that of `eval_helpers.py` of the official repository (commit adbf1cb), proven against recorded
outputs (`tests/oolong/data/vectors.jsonl`). Every oddity is kept on purpose and named where it stands. Where the
official code raises, the score here is 0 and `reason` says what it would have raised; nothing here ever raises.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

#: Stands beside every score in every output.
NAME, VERSION = "official", "adbf1cb/1"

COMPARISONS = ("more common", "less common", "same frequency")


@dataclass(frozen=True, slots=True)
class Score:
    """One scored answer: `score` in 0..1, what was parsed out of the response, and how sure the parser was.

    `reason` is set where the official code would have raised.
    """

    score: float
    parse: Any
    confidence: str | None
    gold: Any = None
    reason: str | None = None


def score(
    scorer: str, answer: Any, answer_type: str | None, response: str | None, *, today: date | None = None
) -> Score:
    """Score one response with the official rules of `scorer` ("synth" or "dnd").

    `answer` is the data set's text (a Python literal for synth), `answer_type` its column (None for dnd). `today` sets
    the clock that fills missing parts of a date (the official code takes the machine's).
    """
    rules: Callable[[], Score]
    if scorer == "synth":
        rules = lambda: _synth(str(answer), answer_type or "", response, today)  # noqa: E731
    elif scorer == "dnd":
        rules = lambda: _dnd(str(answer), response)  # noqa: E731
    else:
        return Score(0.0, None, None, reason=f"unknown scorer {scorer!r}: synth or dnd")
    try:
        return rules()
    except (RecursionError, MemoryError) as error:
        return Score(0.0, None, None, reason=type(error).__name__)
    except Exception as error:  # the official code raises on such answers; here they score 0 and say why
        return Score(0.0, None, None, reason=f"{type(error).__name__}: {error}")


# ---------------------------------------------------------------------------------------------------------- synth


def parse_synth(response: str) -> tuple[str, str]:
    """The part of a synth response that is compared, and the parser's confidence (low, med, high, vhigh).

    Raises IndexError on 20 or more blanks without a colon, as the official code does.
    """
    if ":" not in response:
        # Short answers stay as they are: not stripped, no markdown removed.
        return (response if len(response) < 20 else response.split()[-1]), "low"
    # The last colon of the whole response counts, so a time or a note after the answer wins over the answer.
    # Blanks are stripped before the marks are removed: `**Label:** ham` gives " ham".
    candidate = response.split(":")[-1].strip().replace("*", "").replace("[", "").replace("]", "")
    if len(candidate) < 20:
        return candidate, "vhigh"  # the comparison phrases are not looked for in short candidates
    confidence = "high" if any(word in response for word in ("User:", "Answer:", "Date:", "Label")) else "med"
    for phrase in COMPARISONS:
        if phrase in candidate:
            return phrase, confidence
    return candidate, confidence


def _gold(answer: str) -> Any:
    """The first element of the literal; a date is read whole, so a list of two dates raises."""
    if "datetime" in answer:
        return datetime.strptime(answer, "[datetime.date(%Y, %m, %d)]")
    return ast.literal_eval(answer)[0]


def _synth(answer: str, answer_type: str, response: str | None, today: date | None) -> Score:
    gold = _gold(answer)
    if response is None:
        raise TypeError("the response is empty (None)")
    parsed: Any
    parsed, confidence = parse_synth(response)
    if str(parsed) == str(gold):
        return Score(1.0, parsed, confidence, gold)
    if parsed in ("more common", "less common", "same frequency"):
        # No further rule applies once the candidate is exactly one of the phrases, not even for numbers.
        return Score(float(parsed in str(gold)), parsed, confidence, gold)
    if answer_type == "ANSWER_TYPE.NUMERIC":
        try:
            return Score(_partial(int(parsed), int(gold)), str(int(parsed)), confidence, gold)
        except (ValueError, TypeError):
            return Score(0.0, parsed, "low", gold)
    if answer_type == "ANSWER_TYPE.DATE":
        moment = _parse_date(parsed, today)
        if moment is None:
            return Score(0.0, parsed, "low", gold)
        return Score(float(moment == gold), str(moment), confidence, gold)
    return Score(0.0, parsed, confidence, gold)


def _partial(parsed: int, gold: int) -> float:
    difference = abs(gold - parsed)
    # 0.75**5000 is 0.0 already; a float of a huge integer would overflow.
    return float(0.75**difference) if difference < 5000 else 0.0


def _parse_date(text: str, today: date | None) -> datetime | None:
    """dateutil's reading, with missing parts taken from today; None where it cannot read it."""
    from dateutil import parser as dateutil

    default = None if today is None else datetime(today.year, today.month, today.day)
    try:
        moment = dateutil.parse(text, default=default)
    except (ValueError, OverflowError, TypeError, RecursionError, ArithmeticError, IndexError, AttributeError):
        return None
    return moment


# ------------------------------------------------------------------------------------------------------------ dnd

_TEXT_BOX = re.compile(r"\\boxed\{\\text\{([^}]*)\}\}")
_BOX = re.compile(r"\\boxed[\{]+([^}]*)[\}]+")


def parse_dnd(response: str) -> tuple[int | str | list[str], str]:
    """The first box of a real-split response as an int, a list (any comma makes one) or a string."""
    match = _TEXT_BOX.search(response) or _BOX.search(response)
    if match is None:
        return response, "low"  # an unboxed number stays a string, so it never equals an int
    return _value(match.group(1)), "high"


def _value(text: str) -> int | str | list[str]:
    try:
        return int(text)
    except ValueError:
        pass
    if "," in text:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _dnd(answer: str, response: str | None) -> Score:
    if response is None:
        raise TypeError("the response is empty (None)")
    gold = _value(answer)
    parsed, confidence = parse_dnd(response)
    value = 0.0
    if isinstance(gold, int) and isinstance(parsed, int):
        value = _partial(parsed, gold)
    elif isinstance(gold, str) and isinstance(parsed, str):
        value = float(gold.strip().lower() == parsed.strip().lower())
    elif isinstance(gold, list) and isinstance(parsed, list):
        # Case-sensitive, order ignored, no penalty for extra items; duplicates in gold make 1.0 unreachable.
        value = len(set(gold) & set(parsed)) / len(gold) if gold else 0.0
    return Score(value, parsed, confidence, gold)
