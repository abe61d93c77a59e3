"""The listed root: what a candidate finds in `/usr`, copied once from this machine."""

from triathlon.sandbox.root.build import Root, listed_root

__all__ = ["Root", "listed_root"]
