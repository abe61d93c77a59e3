"""The four channels as bytes for the store, and unpacked into a folder for a person to read."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triathlon.harness.channels import Channels
    from triathlon.sandbox import Entry

NAMES = ("requests", "files", "exit", "output")


def pack(channels: Channels, max_bytes: int) -> dict[str, bytes]:
    """Each channel as a JSON object `{"cut": bool, "left_out": n, "items": [...]}` of at most about `max_bytes`.

    Items go in as they come; what no longer fits is left out and counted. Text keeps every byte (undecodable ones as
    lone surrogates), so that an item is what was seen.
    """
    return {
        "requests": _capped((request.record() for request in channels.requests), max_bytes),
        "files": _capped(_files(channels), max_bytes),
        "exit": _capped(_exits(channels), max_bytes),
        "output": _capped(_outputs(channels), max_bytes),
    }


def _capped(items: Iterable[Mapping[str, Any]], max_bytes: int) -> bytes:
    kept: list[str] = []
    left_out, size = 0, 0
    for item in items:
        text = json.dumps(item)
        if size + len(text) > max_bytes:
            left_out += 1
            continue
        kept.append(text)
        size += len(text)
    cut = "true" if left_out else "false"
    return f'{{"cut": {cut}, "left_out": {left_out}, "items": [{",".join(kept)}]}}'.encode("ascii")


def _files(channels: Channels) -> Iterable[dict[str, Any]]:
    """What changed comes first and with its bytes; what is as it was laid out is named without them."""
    before, after = channels.laid_out, channels.files
    same = {name for name, entry in after.items() if name in before and _alike(before[name], entry)}
    for name in sorted(after.keys() - same):
        yield _file(name, after[name], "changed" if name in before else "new")
    for name in sorted(before.keys() - after.keys()):
        yield {"name": name, "state": "gone"}
    for name in sorted(same):
        entry = after[name]
        yield {"name": name, "state": "same", "kind": entry.kind, "mode": oct(entry.mode), "sha256": entry.sha256}


def _alike(one: Entry, other: Entry) -> bool:
    return (one.kind, one.mode, one.target, one.sha256) == (other.kind, other.mode, other.target, other.sha256)


def _file(name: str, entry: Entry, state: str) -> dict[str, Any]:
    seen: dict[str, Any] = {"name": name, "state": state, "kind": entry.kind, "mode": oct(entry.mode)}
    if entry.kind == "link":
        seen["target"] = entry.target
    if entry.kind == "file":
        seen |= {"size": entry.size, "sha256": entry.sha256, "truncated": entry.truncated}
        if entry.data is not None:
            try:
                seen["text"] = entry.data.decode("utf-8")
            except UnicodeDecodeError:
                seen["base64"] = base64.b64encode(entry.data).decode("ascii")
    return seen


def _exits(channels: Channels) -> Iterable[dict[str, Any]]:
    for name in channels.exits.keys() | channels.seconds.keys():
        yield {"of": name, "exit": channels.exits.get(name), "seconds": round(channels.seconds.get(name, 0.0), 3)}
    for problem in channels.problems:
        yield {"problem": problem}


def _outputs(channels: Channels) -> Iterable[dict[str, Any]]:
    for name, output in channels.outputs.items():
        yield {"of": name, "part": "stdout", "text": _text(output.stdout), "cut": "stdout" in output.cut}
        yield {"of": name, "part": "stderr", "text": _text(output.stderr), "cut": "stderr" in output.cut}
        if output.screen is not None:
            yield {"of": name, "part": "screen", "text": output.screen, "cut": False}
    for name, answer in channels.http.items():
        yield {"of": name, "part": "http", "status": answer.status, "text": _text(answer.body), "error": answer.error}
    for name, result in channels.results.items():
        yield {"of": name, "part": "result", "json": result}


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def unpack(channels: Mapping[str, bytes], folder: Path) -> None:
    """Write stored channels into `folder`: one JSON file a channel, and the files and outputs as files of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in channels.items():
        loaded = json.loads(body)
        (folder / f"{name}.json").write_text(json.dumps(loaded, indent=2) + "\n", "ascii")
        for item in loaded["items"]:
            if name == "files" and item["state"] in ("new", "changed") and item["kind"] == "file":
                _write(folder / "files", item["name"], item)
            elif name == "output" and "text" in item:
                _write(folder / "output", f"{item['of']}.{item['part']}", item)


def _write(folder: Path, name: str, item: Mapping[str, Any]) -> None:
    # Names come from the candidate: each part becomes one plain name, so that nothing lands outside the folder.
    parts = [part.replace("\0", "") for part in name.split("/") if part not in ("", ".", "..")]
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    if "base64" in item:
        path.write_bytes(base64.b64decode(item["base64"]))
    elif "text" in item:
        path.write_bytes(item["text"].encode("utf-8", "surrogateescape"))
