"""A small corpus of our own, written by a generator: it gives rows in the published schemas, from a seed.

So everything runs offline: `recall make --builtin`, `recall score --data builtin`, the tests. The tokenizer beside it
was trained on this text.
"""
