"""Lets most of what Schemathesis makes up refer to what exists in the sandbox."""

import json
import os
import zlib

import schemathesis

KNOWN = json.loads(os.environ["SANDBOX_IDS"])


def with_known_ids(values):
    if not isinstance(values, dict):
        return values
    return {
        name: KNOWN[name] if name in KNOWN and isinstance(value, str) and is_taken(value) else value
        for name, value in values.items()
    }


def is_taken(value):
    """Three of four, and the same ones in every run."""
    return zlib.crc32(value.encode("utf-8", "surrogatepass")) % 4 != 0


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return with_known_ids(path_parameters)


@schemathesis.hook
def map_query(context, query):
    return with_known_ids(query)


@schemathesis.hook
def map_body(context, body):
    return with_known_ids(body)
