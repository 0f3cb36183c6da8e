"""Durations as text."""


def duration(seconds: float) -> str:
    """Return a time as text: `52 s`, `9 min 12 s`, `1 h 4 min`, `6 d 20 h`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    if whole < 24 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // (24 * 3600)} d {whole % (24 * 3600) // 3600} h"
