"""A coding-agent harness: the loop between a model, a person's files and a shell, with rules about what may run."""

VERSION = "1.0.0"
