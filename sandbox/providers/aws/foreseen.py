"""What a preview can tell of a resource before AWS has answered."""

from __future__ import annotations

from sandbox.providers._protocol.values import UNKNOWN
from sandbox.providers.aws.resource import ResourceType, Values


def foreseen(kind: ResourceType, inputs: Values) -> Values:
    """Return the outputs of a creation as far as a preview can tell them."""
    unknown = dict.fromkeys(kind.computed - inputs.keys(), UNKNOWN)
    inside = {
        name: {**dict.fromkeys(added, UNKNOWN), **inputs[name]}
        for name, added in kind.computed_inside.items()
        if isinstance(inputs.get(name), dict)
    }
    return {**inputs, **unknown, **inside}


def foreseen_change(kind: ResourceType, outputs: Values, olds: Values, news: Values) -> Values:
    """Return the outputs of a change: what AWS decided stays known, also inside of an input."""
    kept = {name: value for name, value in outputs.items() if name not in olds or name in news}
    inside = {
        name: {key: outputs[name][key] for key in added if key in outputs[name]} | news[name]
        for name, added in kind.computed_inside.items()
        if isinstance(outputs.get(name), dict) and isinstance(news.get(name), dict)
    }
    return {**kept, **news, **inside, **dict.fromkeys(kind.recomputed, UNKNOWN)}
