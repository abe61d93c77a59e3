"""The published sources, pinned as on the card, and what is kept of each."""

from __future__ import annotations

from dataclasses import dataclass

from triathlon.recall.make.session import Origin


@dataclass(frozen=True, slots=True)
class Published:
    """A hub data set: the configs and the split that are read, and how many rows at most."""

    origin: Origin
    configs: tuple[str, ...]
    split: str
    rows: int


def _origin(dataset: str, revision: str, license_: str, note: str = "") -> Origin:
    return Origin(dataset, revision, license_, note)


LLAMA = (
    "the licence of each repository an instance is based on; users of the model outputs must comply with the "
    "Llama 3.1 License"
)
WIKITEXT = _origin(
    "Salesforce/wikitext", "main", "CC BY-SA 3.0", "and GFDL; Wikipedia contributors, via WikiText-103 (Merity et al.)"
)
NEBIUS = _origin("nebius/SWE-agent-trajectories", "68195a1450865274106246d0d0296a1d6807b88e", "CC BY 4.0", LLAMA)
KLEAR = _origin(
    "Kwai-Klear/SWE-smith-mini_swe_agent_plus-trajectories-66k",
    "750b2c11239fd5e32f97e6cfb9bf80fb9a9a2983",
    "MIT",
    "the sessions show code of the repositories they work on",
)
HERMES = _origin("NousResearch/hermes-function-calling-v1", "dae3e1d28cfbcf4b915c04ea1e072030529b4bda", "Apache-2.0")
GLAIVE = _origin("glaiveai/glaive-function-calling-v2", "e7f4b6456019f5d8bcb991ef0dd67d8ff23221ac", "Apache-2.0")
XLAM = _origin(
    "minpeter/xlam-function-calling-60k-parsed",
    "c6a0d61d66c5ac769c5c8c7de007322fa24f1825",
    "CC BY 4.0",
    "a parse of Salesforce/xlam-function-calling-60k (APIGen)",
)
CODE = _origin(
    "codeparrot/github-code-clean",
    "c48d40f9e70f0196f8236901ee35807f7d6c44c0",
    "Apache-2.0",
    "files under MIT, Apache-2.0, BSD-2-Clause, BSD-3-Clause, ISC, Unlicense or CC0-1.0 only",
)
PYTHON = _origin(
    "AmanPriyanshu/random-python-github-repositories",
    "53690024aaa0f56f81700bf504d9d5e16ec81a4d",
    "ODC-By",
    "repositories under MIT, Apache-2.0, BSD or Unlicense only",
)
FINEWEB = _origin(
    "HuggingFaceFW/fineweb-edu",
    "87f09149ef4734204d70ed1d046ddc9ca3f2b8f9",
    "ODC-By",
    "and the Common Crawl terms of use",
)

PUBLISHED: tuple[Published, ...] = (
    Published(WIKITEXT, ("wikitext-103-raw-v1",), "validation", 10_000),
    Published(NEBIUS, ("default",), "train", 400),
    Published(KLEAR, ("default",), "train", 200),
    Published(HERMES, ("func_calling", "json_mode_agentic"), "train", 150),
    Published(GLAIVE, ("default",), "train", 300),
    Published(XLAM, ("default",), "train", 300),
    Published(CODE, ("default",), "train", 400),
    Published(PYTHON, ("default",), "train", 200),
    Published(FINEWEB, ("sample-10BT",), "train", 300),
)
