"""Named prompt profiles. The default says nothing that only helps on Oolong; every result names its profile."""

from __future__ import annotations

from dataclasses import dataclass

from triathlon.errors import UsageError
from triathlon.oolong.windows import RealRow, Row

#: The name of the seeded file in the workspace of a harness.
CONTEXT_FILE = "context.txt"


@dataclass(frozen=True, slots=True)
class Profile:
    """The texts of a prompt: `system` stands before the window, `file` before the question of a harness."""

    name: str
    system: str
    file: str


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "plain",
            "You are a helpful assistant.",
            "The file {file} in this folder holds a text. Answer the question about it. Reply with the answer only.",
        ),
        Profile(
            "careful",
            "You are a helpful assistant. Work through the whole text before you answer, and check your answer.",
            "The file {file} in this folder holds a text. It may be longer than what one read shows: work through all "
            "of it before you answer the question, and check your answer. Reply with the answer only.",
        ),
    )
}


def profile(name: str) -> Profile:
    """The profile of a name. Raises UsageError with the known ones."""
    if name not in PROFILES:
        raise UsageError(f"unknown prompt profile {name!r}; known: {', '.join(PROFILES)}")
    return PROFILES[name]


def window_of(row: Row | RealRow, *, labels: bool) -> str:
    """What the run may see. Raises UsageError where labels are asked for and there are none."""
    if not labels:
        return row.context_window_text
    if not isinstance(row, Row):
        raise UsageError("the labels condition is only for oolong-synth rows")
    return row.context_window_text_with_labels


def messages(row: Row | RealRow, chosen: Profile, *, labels: bool) -> list[dict[str, str]]:
    """The window in the prompt: one system message with the window at its end, then the question."""
    return [
        {"role": "system", "content": f"{chosen.system}\n\n{window_of(row, labels=labels)}"},
        {"role": "user", "content": row.question},
    ]


def guard(row: Row | RealRow, text: str) -> str | None:
    """What is wrong with a text that an ordinary run may see: a label field or the labelled window; None if sound."""
    if " || Label:" in text:
        return "a ` || Label:` field"
    if isinstance(row, Row) and row.context_window_text_with_labels in text and row.context_window_text_with_labels:
        return "the labelled window" if row.context_window_text_with_labels != row.context_window_text else None
    return None
