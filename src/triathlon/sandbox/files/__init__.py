"""Files of a sandbox, read and written from outside through one held folder."""

from triathlon.sandbox.files.places import Places

__all__ = ["Places"]
