"""An evaluator of the filter patterns of CloudWatch Logs that the program uses.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/regex-expressions.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html
"""

from __future__ import annotations

import json
import re

MAXIMUM_LENGTH = 1024
"""https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutMetricFilter.html"""
_ALLOWED = re.compile(r"(?:[A-Za-z0-9:_#=@/;,\-^$?\[\]{}|*+.]|\\[dDsSwW.])*")
"""Alphanumeric characters, some symbols and operators; groups are not among them."""
_JSON = re.compile(r"\{ \$\.(?P<field>\w+) = %(?P<regex>[^%]*)% \}")
_TEXT = re.compile(r"%(?P<regex>[^%]*)%")


class PatternError(ValueError):
    """CloudWatch Logs refuses the pattern."""


def matches(pattern: str, event: str) -> bool:
    """Return whether a log event matches a pattern with a regular expression.

    Raises:
        PatternError: CloudWatch Logs refuses the pattern, or it has another form.
    """
    in_json, in_text = _JSON.fullmatch(pattern), _TEXT.fullmatch(pattern)
    found = in_json or in_text
    if found is None or len(pattern) > MAXIMUM_LENGTH or not _ALLOWED.fullmatch(found["regex"]):
        raise PatternError(pattern)
    text = event
    if in_json:
        fields = json.loads(event) if event.startswith("{") else {}
        text = fields.get(in_json["field"], "")
    return re.search(found["regex"], text) is not None
