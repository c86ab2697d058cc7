"""A JSON Schema validator for the keywords in the schema of traces; other keywords raise."""

from __future__ import annotations

import re

_TYPES = {
    "object": lambda data: isinstance(data, dict),
    "array": lambda data: isinstance(data, list),
    "string": lambda data: isinstance(data, str),
    "integer": lambda data: isinstance(data, int) and not isinstance(data, bool),
    "boolean": lambda data: isinstance(data, bool),
    "null": lambda data: data is None,
}
_SILENT = {"$schema", "$defs", "title", "description", "default"}
# A keyword constrains only data of its type.
_OF = {
    "minimum": "integer",
    "maximum": "integer",
    "exclusiveMaximum": "integer",
    "maxLength": "string",
    "pattern": "string",
    "maxItems": "array",
    "minItems": "array",
    "prefixItems": "array",
    "items": "array",
    "minProperties": "object",
    "maxProperties": "object",
    "required": "object",
    "propertyNames": "object",
    "properties": "object",
    "additionalProperties": "object",
}
_SIMPLE = {
    "type": lambda wanted, data: _TYPES[wanted](data),
    "enum": lambda wanted, data: any(type(one) is type(data) and one == data for one in wanted),
    "minimum": lambda least, data: data >= least,
    "maximum": lambda most, data: data <= most,
    "exclusiveMaximum": lambda limit, data: data < limit,
    "maxLength": lambda most, data: len(data) <= most,
    "pattern": lambda pattern, data: re.search(pattern, data) is not None,
    "maxItems": lambda most, data: len(data) <= most,
    "minItems": lambda least, data: len(data) >= least,
    "maxProperties": lambda most, data: len(data) <= most,
    "minProperties": lambda least, data: len(data) >= least,
    "required": lambda names, data: all(name in data for name in names),
}


class Validator:
    def __init__(self, schema):
        self.root = schema

    def accepts(self, data, schema=None):
        schema = self.root if schema is None else schema
        if isinstance(schema, bool):
            return schema
        return all(
            self._keyword(keyword, wanted, data, schema)
            for keyword, wanted in schema.items()
            if keyword not in _SILENT
        )

    def _keyword(self, keyword, wanted, data, schema):
        if keyword in _OF and not _TYPES[_OF[keyword]](data):
            return True
        if keyword in _SIMPLE:
            return _SIMPLE[keyword](wanted, data)
        if keyword == "$ref":
            return self.accepts(data, self.root["$defs"][wanted.removeprefix("#/$defs/")])
        if keyword == "anyOf":
            return any(self.accepts(data, one) for one in wanted)
        if keyword == "not":
            return not self.accepts(data, wanted)
        if keyword == "propertyNames":
            return all(self.accepts(name, wanted) for name in data)
        if keyword == "properties":
            return all(self.accepts(data[k], one) for k, one in wanted.items() if k in data)
        if keyword == "additionalProperties":
            known = schema.get("properties", {})
            return all(self.accepts(one, wanted) for k, one in data.items() if k not in known)
        if keyword == "prefixItems":
            return all(map(self.accepts, data, wanted))
        if keyword == "items":
            return all(
                self.accepts(one, wanted) for one in data[len(schema.get("prefixItems", ())) :]
            )
        raise AssertionError(f"the validator does not know {keyword}")
