"""The scripted model: replies from a script instead of a model, with faults, and a journal of what was asked."""
