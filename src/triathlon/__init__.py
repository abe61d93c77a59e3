"""Triathlon: a bench for agents that work for hours."""

__version__ = "0.1.0"
