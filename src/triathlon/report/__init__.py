"""From the store to something people read: the static site, exports, comparisons."""
