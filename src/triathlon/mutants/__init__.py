"""Planted faults: small patches of the reference, which some case that cites their clause has to notice."""
