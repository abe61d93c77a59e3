"""Reading a request's body: JSON with no surprises, and what it costs to keep."""

from __future__ import annotations

import json
import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def weight(raw: bytes) -> int:
    """About how many bytes a body takes in memory, raw and parsed: a short body of empty lists is a long one parsed."""
    return len(raw) + 64 * (raw.count(b"[") + raw.count(b"{")) + 25 * raw.count(b'"')


def parse(raw: bytes) -> tuple[Any, str | None]:
    """(value, None), or what could be read and why it is not valid JSON. Strings of the value are valid Unicode."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return None, f"the body is not UTF-8: {error.reason} at byte {error.start}"
    try:
        value = json.loads(text, parse_constant=_no_constant)
        if "\\ud" in text or "\\uD" in text:
            plain = json.dumps(value, ensure_ascii=False)
            if _SURROGATE.search(plain):
                return json.loads(
                    _SURROGATE.sub("\ufffd", plain)
                ), "the body has half a surrogate pair: no valid Unicode"
    except (ValueError, RecursionError) as error:
        return None, f"the body is not valid JSON: {str(error)[:120]}"
    return value, None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
