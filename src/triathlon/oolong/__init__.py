"""Oolong: read everything, then aggregate (Bertsch et al. 2025, arXiv:2511.02817)."""
