"""The stored channels: everything that was seen, capped with a mark, unpacked inside one folder only."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from triathlon.harness.channels import Channels, HttpAnswer, Output
from triathlon.harness.record import NAMES, pack, unpack
from triathlon.sandbox import Entry
from triathlon.scripted.journal import Request


def file(data: bytes, mode: int = 0o644) -> Entry:
    return Entry("file", mode, len(data), 0.0, data, sha256=hashlib.sha256(data).hexdigest())


def channels() -> Channels:
    return Channels(
        requests=[Request(1, 0.1, "POST", "/v1/chat/completions", {"host": "h"}, b'{"model": "default"}')],
        files={
            "workspace/same": file(b"same"),
            "workspace/new": file(b"new\xff"),
            "workspace/changed": file(b"after"),
            "workspace/link": Entry("link", 0o777, 1, 0.0, target="../outside"),
        },
        laid_out={
            "workspace/same": file(b"same"),
            "workspace/changed": file(b"before"),
            "workspace/gone": file(b"x"),
        },
        exits={"main": 0, "other": None},
        seconds={"main": 1.25, "other": 2.0},
        outputs={"main": Output(b"out\n\xff", b"err", "screen", cut=("stdout",))},
        http={"h": HttpAnswer(200, {}, b"{}")},
        results={"r": {"ok": True}},
        problems=["a deadline"],
    )


def items(packed: dict[str, bytes], channel: str) -> list[dict[str, object]]:
    return json.loads(packed[channel])["items"]  # type: ignore[no-any-return]


def test_the_four_channels_say_what_was_seen() -> None:
    packed = pack(channels(), 10_000)
    assert tuple(packed) == NAMES
    assert items(packed, "requests")[0]["path"] == "/v1/chat/completions"
    states = {item["name"]: item["state"] for item in items(packed, "files")}
    assert states == {
        "workspace/new": "new",
        "workspace/link": "new",
        "workspace/changed": "changed",
        "workspace/gone": "gone",
        "workspace/same": "same",
    }
    exits = {item["of"]: item["exit"] for item in items(packed, "exit") if "of" in item}
    assert exits == {"main": 0, "other": None}
    assert {"problem": "a deadline"} in items(packed, "exit")
    assert {item["part"] for item in items(packed, "output")} == {"stdout", "stderr", "screen", "http", "result"}


def test_a_large_channel_is_cut_and_says_so() -> None:
    seen = channels()
    seen.requests = [Request(n, 0.0, "POST", "/", {}, b"x" * 400) for n in range(1, 100)]
    packed = pack(seen, 5_000)
    loaded = json.loads(packed["requests"])
    assert loaded["cut"] is True
    assert loaded["left_out"] + len(loaded["items"]) == 99
    assert 1 < len(loaded["items"]) < 15
    assert json.loads(packed["exit"])["cut"] is False


def test_unpacking_gives_files_as_they_were(tmp_path: Path) -> None:
    unpack(pack(channels(), 10_000), tmp_path / "kept")
    assert (tmp_path / "kept" / "files" / "workspace" / "new").read_bytes() == b"new\xff"
    assert (tmp_path / "kept" / "files" / "workspace" / "changed").read_bytes() == b"after"
    assert (tmp_path / "kept" / "output" / "main.stdout").read_bytes() == b"out\n\xff"
    assert json.loads((tmp_path / "kept" / "exit.json").read_text())["items"]


def test_hostile_names_stay_inside_the_folder(tmp_path: Path) -> None:
    seen = Channels(files={"workspace/../../../evil": file(b"x"), "workspace//abs": file(b"y"), "a\udcff": file(b"z")})
    unpack(pack(seen, 10_000), tmp_path / "kept")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept"]
    assert (tmp_path / "kept" / "files" / "workspace" / "evil").read_bytes() == b"x"
