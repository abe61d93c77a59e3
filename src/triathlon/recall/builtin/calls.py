"""Short function-calling conversations in the schemas of Hermes v1, glaive v2 and xlam."""

from __future__ import annotations

import json
import random
from typing import Any

from triathlon.recall.builtin import prose, words


def tool(pick: random.Random) -> dict[str, Any]:
    """An invented tool definition."""
    name = f"{pick.choice(words.TOOL_VERBS)}_{pick.choice(words.TOOL_NOUNS)}"
    names = pick.sample(words.PARAMETERS, pick.randrange(2, 5))
    properties = {
        n: {"type": pick.choice(words.TYPES), "description": f"The {n.replace('_', ' ')} to use"} for n in names
    }
    return {
        "name": name,
        "description": f"{name.split('_')[0].title()} the {' '.join(name.split('_')[1:])} of a customer",
        "parameters": {"type": "object", "properties": properties, "required": names[:2]},
    }


def arguments(definition: dict[str, Any], pick: random.Random) -> dict[str, Any]:
    """Arguments that fit a definition."""
    values: dict[str, Any] = {}
    for name, kind in definition["parameters"]["properties"].items():
        values[name] = {
            "string": f"{pick.choice(words.ADJECTIVES)} {pick.choice(words.NOUNS)}",
            "integer": pick.randrange(1, 500),
            "number": pick.randrange(10, 9999) / 10,
            "boolean": pick.random() < 0.5,
        }[kind["type"]]
    return values


def turns(
    seed: int, number: int, rounds: int
) -> tuple[list[dict[str, Any]], list[tuple[str, dict[str, Any], str, str]]]:
    """Tools, and rounds of (question, call, result, answer)."""
    pick = random.Random(f"calls {seed} {number}")
    tools = list({t["name"]: t for t in (tool(pick) for _ in range(4))}.values())
    out = []
    for _ in range(rounds):
        chosen = pick.choice(tools)
        call = {"name": chosen["name"], "arguments": arguments(chosen, pick)}
        result = json.dumps({"status": "ok", "reference": pick.randrange(1000, 9999)})
        what = chosen["name"].replace("_", " ")
        out.append((f"Please {what} for me. {prose.sentence(pick)}", call, result, f"Done: {prose.sentence(pick)}"))
    return tools, out


def hermes_row(seed: int, number: int, rounds: int = 3) -> dict[str, Any]:
    """A row of hermes-function-calling-v1 (func_calling)."""
    tools, done = turns(seed, number, rounds)
    wrapped = [{"type": "function", "function": t} for t in tools]
    talk = [{"from": "system", "value": f"You call functions. <tools> {json.dumps(wrapped)} </tools>"}]
    for question, call, result, answer in done:
        talk += [
            {"from": "human", "value": question},
            {"from": "gpt", "value": f"<tool_call>\n{json.dumps(call)}\n</tool_call>"},
            {"from": "tool", "value": f"<tool_response>\n{result}\n</tool_response>"},
            {"from": "gpt", "value": answer},
        ]
    return {"id": f"h{seed}-{number}", "conversations": talk, "tools": json.dumps(wrapped), "category": "invented"}


def glaive_row(seed: int, number: int, rounds: int = 2) -> dict[str, Any]:
    """A row of glaive-function-calling-v2."""
    tools, done = turns(seed, number + 100_000, rounds)
    system = "SYSTEM: You are a helpful assistant with access to the following functions. Use them if required -\n"
    chat = ""
    for question, call, result, answer in done:
        inner = json.dumps(call["arguments"])
        chat += (
            f"USER: {question}\n\n\nASSISTANT: <functioncall> "
            f'{{"name": "{call["name"]}", "arguments": \'{inner}\'}} <|endoftext|>\n\n\n'
            f"FUNCTION RESPONSE: {result}\n\n\nASSISTANT: {answer} <|endoftext|>\n\n\n"
        )
    return {"system": system + "\n".join(json.dumps(t, indent=4) for t in tools), "chat": chat}


def xlam_row(seed: int, number: int) -> dict[str, Any]:
    """A row of the parsed xlam-function-calling-60k: several calls in one turn."""
    tools, done = turns(seed, number + 200_000, 3)
    calls = [{"type": "function", "function": call} for _, call, _, _ in done]
    messages = [
        {"role": "user", "content": " And ".join(q for q, _, _, _ in done[:2])},
        {"role": "assistant", "content": "", "tool_calls": calls},
    ]
    return {
        "messages": json.dumps(messages),
        "tools": json.dumps([{"type": "function", "function": t} for t in tools]),
    }
