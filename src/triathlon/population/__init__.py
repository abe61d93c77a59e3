"""Statistics over any set of candidates: from verdicts to rates, items, reliability, relations and comparisons.

A statistic that has no value on a table (one candidate, no variance) is None, shown as "undefined"; never NaN.
"""
