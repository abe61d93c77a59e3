"""The words the generator writes with. All of it was written for this project."""

from __future__ import annotations


def _words(text: str) -> list[str]:
    """One word after the other."""
    return text.split()


NOUNS = _words(
    "ledger harbour valve kiln lantern orchard archive mill quarry compass bridge market spindle furnace canal loom "
    "beacon granary cistern workshop ferry tower almanac reservoir foundry pavilion gallery depot terrace signal"
)
ADJECTIVES = _words(
    "narrow old northern quiet wooden copper shallow early common distant heavy public small western careful broken "
    "double plain steady former rounded southern second open dry"
)
PLACES = _words(
    "Velmar Ostrin Kaldera Brenwick Tolvane Marsholm Ijsel Perrault Danhaven Quillon Sarvik Edelmoor Norwend Harrow "
    "Lisk Vantaa Orlo Breck Umbria Castel"
)
TRADES = _words(
    "millers weavers sailors masons clerks farmers printers coopers glaziers surveyors brewers tanners carters bakers"
)
VERBS = _words(
    "repaired measured moved counted described rebuilt sold painted inspected recorded extended closed replaced "
    "inherited drained tested"
)
TIMES = (
    "in the spring", "before the war", "after the flood", "during the long winter", "for two decades", "every autumn",
    "by the end of the century", "in later years", "at first light", "within a single season",
)  # fmt: skip
REASONS = (
    "because the old one had failed", "so that goods could pass", "although nobody had asked for it",
    "while the council still argued", "since timber had become dear", "as the maps of the time show",
    "when the river changed its course", "until the money ran out",
)  # fmt: skip
MODULES = _words(
    "parser cache router scheduler formatter loader session buffer planner exporter resolver watcher encoder ledger "
    "index queue matcher renderer tracker importer"
)
FUNCTIONS = _words(
    "read_header merge_rows split_path flush_queue parse_date find_owner apply_patch trim_lines count_items load_table "
    "build_index close_all next_token check_range write_report sort_keys group_by pad_cells retry_call rename_field"
)
FAULTS = (
    "drops the last row", "ignores the time zone", "returns the wrong order", "fails on an empty file",
    "keeps a stale entry", "counts twice", "raises KeyError on a missing field", "hangs when the queue is full",
    "loses the sign of negative numbers", "accepts a path outside the folder",
)  # fmt: skip
TYPES = ("string", "integer", "number", "boolean")
TOOL_VERBS = ("get", "create", "update", "search", "convert", "schedule", "cancel", "calculate", "list", "send")
TOOL_NOUNS = (
    "invoice", "route", "weather", "meeting", "recipe", "exchange_rate", "ticket", "playlist", "parcel", "loan",
    "inventory", "appointment", "translation", "forecast", "contact", "reminder",
)  # fmt: skip
PARAMETERS = (
    "city", "date", "amount", "currency", "customer_id", "start_time", "priority", "language", "quantity", "address",
    "category", "max_results", "unit", "notes", "account", "duration",
)  # fmt: skip
