"""The provider `namespaces`: Linux namespaces made by a helper process of ours, with no package and no daemon."""

from triathlon.sandbox.namespaces.provider import Namespaces

__all__ = ["Namespaces"]
