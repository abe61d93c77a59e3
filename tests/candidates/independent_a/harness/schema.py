"""Whether a text is JSON that fits a schema."""

import json


def same(a, b):
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


TYPES = {
    "object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list), "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool), "null": lambda v: v is None,
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, float) and v.is_integer()),
}


def check(value, schema, at="$"):
    if schema is True or not isinstance(schema, dict):
        return at + ": nothing is allowed" if schema is False else ""
    kinds = schema.get("type")
    if kinds is not None:
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if not any(TYPES.get(k, lambda _: True)(value) for k in kinds):
            return "%s is not of type %s" % (at, ", ".join(map(str, kinds)))
    if "enum" in schema and not any(same(value, e) for e in schema["enum"]):
        return at + " is not one of the listed values"
    if "const" in schema and not same(value, schema["const"]):
        return at + " is not the value asked for"
    if TYPES["number"](value):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            return at + " is out of range"
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            return at + " has a wrong length"
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            wrong = check(item, schema["items"], "%s[%d]" % (at, i))
            if wrong:
                return wrong
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                return "%s has no %s" % (at, name)
        known = schema.get("properties", {})
        for name, item in value.items():
            inner = known[name] if name in known else schema.get("additionalProperties", True)
            wrong = check(item, inner, at + "." + name)
            if wrong:
                return wrong
    return ""


def problem(text, schema):
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "it is not JSON"
    return check(value, schema)
