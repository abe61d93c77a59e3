"""A data set on disk or on the hub: which files it has, its items, its fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from triathlon.errors import UsageError
from triathlon.recall import parquet
from triathlon.recall.files import read_json
from triathlon.recall.items import CONFIGS, MAIN, Item, length_key

Key = tuple[str, str]  # (config, length)


@dataclass(frozen=True)
class Part:
    """One Parquet file: a config at a length."""

    config: str
    length: str
    path: Path

    @cached_property
    def sha256(self) -> str:
        """Hash of the file as it lies there."""
        digest = hashlib.sha256()
        with self.path.open("rb") as handle:
            while block := handle.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()

    def items(self, limit: int | None = None) -> list[Item]:
        """The first `limit` items (all by default)."""
        return parquet.read(self.path, self.config, limit)


@dataclass(frozen=True)
class Dataset:
    """The chosen parts of a data set, sorted by config and length."""

    name: str
    parts: tuple[Part, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Hash over the chosen parts: their config, length and content."""
        rows = [[p.config, p.length, p.sha256] for p in self.parts]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def open_dataset(
    source: str,
    *,
    revision: str | None = None,
    sets: Sequence[str] = (),
    lengths: Sequence[str] = (),
    controls: bool = True,
) -> Dataset:
    """Find the Parquet files of a folder or of a hub data set and choose configs and lengths among them.

    The source `builtin` is the set of our own, made on first use.

    With no `sets` all five configs are taken, and the controls that are there unless `controls` is off.
    """
    folder = Path(source)
    if source == "builtin" and not folder.is_dir():
        from triathlon.recall.builtin.corpus import LENGTHS, shipped

        folder = shipped(lengths or LENGTHS)
    if not folder.is_dir():
        folder = _download(source, revision)
    root = folder / "data" if (folder / "data").is_dir() else folder
    parts = [Part(config, path.stem, path) for config in CONFIGS for path in sorted((root / config).glob("*.parquet"))]
    if not parts:
        raise UsageError(f"{source}: no recall data there (looked for data/<config>/<length>.parquet)")
    for name in sets:
        if name not in {p.config for p in parts}:
            known = ", ".join(sorted({p.config for p in parts}))
            raise UsageError(f"--sets {name}: not in {source} (it has {known})")
    for name in lengths:
        if name not in {p.length for p in parts}:
            known = ", ".join(sorted({p.length for p in parts}, key=length_key))
            raise UsageError(f"--lengths {name}: not in {source} (it has {known})")
    wanted = set(sets) or set(CONFIGS if controls else MAIN)
    chosen = [p for p in parts if p.config in wanted and (not lengths or p.length in lengths)]
    if not chosen:
        raise UsageError(f"{source}: no file has both a config of --sets and a length of --lengths")
    chosen.sort(key=lambda p: (CONFIGS.index(p.config), length_key(p.length)))
    return Dataset(source, tuple(chosen))


def _download(source: str, revision: str | None) -> Path:
    if source.count("/") != 1 or source.startswith((".", "/")):
        raise UsageError(f"{source}: no such folder, and not a hub name (owner/name)")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise UsageError(f"{source}: no such folder; a hub name needs the package huggingface_hub") from error
    try:
        return Path(snapshot_download(source, repo_type="dataset", revision=revision, allow_patterns="data/*"))
    except Exception as error:  # the hub client raises many kinds; the user needs the one line
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UsageError(f"{source}: cannot be had from the hub ({first}); give a folder instead") from error


def tokenizer_name(data: Dataset) -> str:
    """The tokenizer that dataset.json beside the data names, or nothing."""
    for part in data.parts[:1]:
        for folder in part.path.parents[:3]:
            manifest = folder / "dataset.json"
            if manifest.is_file():
                value = read_json(manifest, "manifest")
                return str(value.get("tokenizer", {}).get("name", "")) if isinstance(value, dict) else ""
    return ""
