"""Any stack file leads to a configuration or to a list of problems."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from tests.support.eks import P5_CB, STACK_FILE
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def paths(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*path, index))


PATHS = [path for path in paths(P5_CB) if path]


def problems_of(raw):
    try:
        load_stack_config(raw, stack_file=STACK_FILE)
    except ConfigError as error:
        return error.problems
    return ()


def answered(raw):
    """Return whether all problems have a key and a fix."""
    return all(p.path.startswith("trainyard:") and p.remedy for p in problems_of(raw))


@given(VALUES)
def test_any_value_is_answered(value):
    assert problems_of(value)
    assert answered(value)


@given(st.sampled_from(PATHS), VALUES)
def test_any_value_in_any_place_is_answered(path, value):
    raw = copy.deepcopy(dict(P5_CB))
    place = raw
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    assert answered(raw)


@given(st.sampled_from(PATHS), st.text(min_size=1), VALUES)
def test_any_further_key_is_answered(path, key, value):
    raw = copy.deepcopy(dict(P5_CB))
    place = raw
    for part in path:
        place = place[part]
    if isinstance(place, dict):
        place[key] = value
    assert answered(raw)


@given(st.sampled_from(PATHS))
def test_what_is_missing_is_named(path):
    raw = copy.deepcopy(dict(P5_CB))
    place = raw
    for part in path[:-1]:
        place = place[part]
    del place[path[-1]]
    assert answered(raw)
