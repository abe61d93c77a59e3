"""The question kinds of oolong-synth: their text, and the way back from text to question.

The wording is the data set's own form, so that our windows and the published ones are asked alike and the audit can
read the published questions. A question is a kind, a subset that narrows the items first, and the kind's arguments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from triathlon.oolong.line import MONTH_NAMES, parse_short_day, short_day


@dataclass(frozen=True, slots=True)
class Subset:
    """Which items a question looks at: all, some users', one month of any year, or an inclusive range of days."""

    users: tuple[int, ...] = ()
    month: int | None = None
    days: tuple[date, date] | None = None

    @property
    def whole(self) -> bool:
        return not self.users and self.month is None and self.days is None


@dataclass(frozen=True, slots=True)
class Question:
    """One question: `kind` is a key of KINDS, `arguments` fill its text."""

    kind: str
    subset: Subset = Subset()
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question: its columns, and its text with the fields in braces."""

    task: str
    answer_type: str
    group: str
    text: str
    form: str
    fields: tuple[str, ...] = ()


_LABEL_FORM = "Give your final answer in the form 'Label: answer' where answer is one of the labels: {labels}."
_USER_FORM = "Give your final answer in the form 'User: [X]', where [X] is the user ID."
_DATE_FORM = "Give your final answer in the form 'Date: [X]', where [X] is the date in the format MM/DD/YYYY."

KINDS: dict[str, Kind] = {
    "label_most": Kind(
        "MOST_FREQ", "LABEL", "counting", "which of the labels is the most common?", _LABEL_FORM, ("labels",)
    ),
    "label_least": Kind(
        "LEAST_FREQ", "LABEL", "counting", "which of the labels is the least common?", _LABEL_FORM, ("labels",)
    ),
    "label_compare": Kind(
        "RELATIVE_FREQ",
        "COMPARISON",
        "counting",
        "is label '{a}' more common, less common, or the same frequency as label '{b}'?",
        "Give your final answer in the form 'Answer: {a} is [X] {b}', where [X] is 'more common than', 'less common "
        "than', or 'same frequency as'.",
        ("a", "b"),
    ),
    "label_count": Kind(
        "NUMERIC_ONE_CLASS",
        "NUMERIC",
        "counting",
        "how many data points should be classified as label '{a}'?",
        "Give your final answer in the form 'Answer: number'.",
        ("a",),
    ),
    "user_most": Kind("MOST_FREQ", "USER", "user", "which user is represented most often?", _USER_FORM),
    "user_second": Kind(
        "SECOND_MOST_FREQ", "USER", "user", "which user is represented the second most often?", _USER_FORM
    ),
    "user_label_most": Kind(
        "MOST_FREQ", "USER", "user", "which user has the most instances with the label {a}?", _USER_FORM, ("a",)
    ),
    "user_label_versus": Kind(
        "RELATIVE_FREQ",
        "USER",
        "user",
        "which user has more instances with the label {a}: User {u} or User {v}?",
        _USER_FORM,
        ("a", "u", "v"),
    ),
    "date_most": Kind("MOST_FREQ", "DATE", "timeline", "which date is represented most often?", _DATE_FORM),
    "date_second": Kind(
        "SECOND_MOST_FREQ", "DATE", "timeline", "which date is represented the second most often?", _DATE_FORM
    ),
    "dates_n_times": Kind(
        "REPRESENTED_N_TIMES",
        "NUMERIC",
        "timeline",
        "how many dates are represented exactly {n} times?",
        "Give your final answer in the form 'Answer: [X]', where [X] is the number of dates represented exactly {n} "
        "times.",
        ("n",),
    ),
    "label_before": Kind(
        "RELATIVE_FREQ",
        "COMPARISON",
        "timeline",
        "was label '{a}' more common, less common, or the same frequency before {day}, as compared to after {day}?",
        "Give your final answer in the form 'Answer: {a} is [X] before {day}', where [X] is 'more common', 'less "
        "common', or 'the same frequency'.",
        ("a", "day"),
    ),
    "month_first": Kind(
        "RELATIVE_FREQ",
        "MONTH_YEAR",
        "timeline",
        "In which month did the label '{a}' first occur more often than the label '{b}'?",
        "Give your final answer in the form 'Answer: [month] [year]', where [month] is the name of the month and "
        "[year] is the four-digit year where '{a}' first occured more often than '{b}.'",
        ("a", "b"),
    ),
    "months_more": Kind(
        "RELATIVE_FREQ",
        "NUMERIC",
        "timeline",
        "For how many months does the label '{a}' occur more frequently than the label '{b}'? Disregard months where "
        "there is a tie.",
        "Give your final answer in the form 'Answer: [X]', where [X] is the number of months where '{a}' occurs more "
        "often than '{b}.'",
        ("a", "b"),
    ),
    "months_single": Kind(
        "MOST_FREQ",
        "NUMERIC",
        "timeline",
        "For how many months is the label '{a}' the single most frequently occuring label? Disregard months where "
        "there is a tie for the most common label.",
        "Give your final answer in the form 'Answer: [X]', where [X] is the number of months where '{a}' is the most "
        "common label.",
        ("a",),
    ),
}
#: Kinds whose text stands alone, without the words that name the data.
_WHOLE = ("month_first", "months_more", "months_single")
#: Kinds that are reused over a subset.
COUNTING = ("label_most", "label_least", "label_compare", "label_count")


def _opening(question: Question) -> str:
    subset = question.subset
    if question.kind in _WHOLE:
        return ""
    if subset.whole:
        return "In the above data, "
    start = "For the following question, only consider the subset of "
    if subset.users:
        ids = ", ".join(map(str, subset.users))
        if KINDS[question.kind].answer_type == "USER":
            return f"{start}users with IDs {ids}. Among these users, "
        return (
            f"{start}instances that are associated with user IDs {ids}. Among instances associated with these users, "
        )
    if subset.month is not None:
        name = MONTH_NAMES[subset.month - 1]
        return f"{start}instances that occur in {name} of any year. Among instances occuring in {name}, "
    assert subset.days is not None
    first, last = map(short_day, subset.days)
    return (
        f"{start}instances that occur between {first} and {last}, inclusive. "
        "Among instances occuring in this date range, "
    )


def render(question: Question) -> str:
    """The question's text."""
    kind = KINDS[question.kind]
    values = dict(zip(kind.fields, question.arguments, strict=True))
    return (
        f"{_opening(question)}{kind.text} {kind.form}".format(**values)
        if values
        else (f"{_opening(question)}{kind.text} {kind.form}")
    )


def _pattern(kind: Kind) -> re.Pattern[str]:
    """A pattern for a kind's text; the tail that tells the answer's form is left out but for its field."""
    text = re.escape(kind.text)
    if kind.fields == ("labels",):
        text += re.escape(" " + kind.form.split("{")[0]) + r"(?P<labels>.*?)\.?"
    for name in kind.fields:
        field, group = re.escape("{" + name + "}"), f"(?P<{name}>.+?)"
        text = text.replace(field, group, 1).replace(field, f"(?P={name})")
    # The published text lacks the closing quote after the first label of this one kind.
    text = text.replace(r"(?P<a>.+?)'\ first", r"(?P<a>.+?)'?\ first")
    ending = r"\s*" if kind.fields == ("labels",) else r"\s+Give your final answer.*"
    return re.compile(text.replace(r"\ ", r"\s+") + ending, re.DOTALL)


_PATTERNS = {name: _pattern(kind) for name, kind in KINDS.items()}
_USERS = re.compile(
    r"For the following question, only consider the subset of (?:instances that are associated with user IDs|users "
    r"with IDs) (?P<ids>[\d, ]+)\. Among (?:instances associated with these users|these users), "
)
_MONTH = re.compile(
    r"For the following question, only consider the subset of instances that occur in (?P<name>[A-Z][a-z]+) of any "
    r"year\. Among instances occur+ing in [A-Z][a-z]+, "
)
_RANGE = re.compile(
    r"For the following question, only consider the subset of instances that occur between "
    r"(?P<first>[A-Z][a-z]{2} \d\d?, \d{4}) and (?P<last>[A-Z][a-z]{2} \d\d?, \d{4}), inclusive\. "
    r"Among instances occur+ing in this date range, "
)


def parse(text: str) -> Question | None:
    """The question of a text, or None where it is of no known form."""
    opened = _subset(text)
    if opened is None:
        return None
    subset, rest = opened
    for name, pattern in _PATTERNS.items():
        match = pattern.fullmatch(rest)
        if match:
            return Question(name, subset, tuple(match[field] for field in KINDS[name].fields))
    return None


def _subset(text: str) -> tuple[Subset, str] | None:
    text = text.strip()
    if text.startswith("In the above data, "):
        return Subset(), text[len("In the above data, ") :]
    if match := _USERS.match(text):
        ids = tuple(int(part) for part in match["ids"].replace(" ", "").split(",") if part)
        return Subset(users=ids), text[match.end() :]
    if match := _MONTH.match(text):
        if match["name"] not in MONTH_NAMES:
            return None
        return Subset(month=MONTH_NAMES.index(match["name"]) + 1), text[match.end() :]
    if match := _RANGE.match(text):
        first, last = parse_short_day(match["first"]), parse_short_day(match["last"])
        return None if first is None or last is None else (Subset(days=(first, last)), text[match.end() :])
    return Subset(), text


def label_list(labels: Sequence[str]) -> str:
    """The labels as a question names them."""
    return ", ".join(labels)
