"""The result store: one SQLite file, keyed rows, resumable, mergeable."""

from triathlon.store.results import Store, default_path
from triathlon.store.row import Key, Row

__all__ = ["Key", "Row", "Store", "default_path"]
