"""Long tasks report their purpose, their usual duration, and that they are still running."""

import pytest

from trainyard.sandbox.engine import progress


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"),
        (8.4, "8 s"),
        (59, "59 s"),
        (59.7, "1 min"),
        (120, "2 min"),
        (125, "2 min 5 s"),
        (552, "9 min 12 s"),
        (3840, "1 h 4 min"),
        (86399, "23 h 59 min"),
        (6 * 86400 + 20 * 3600 + 59 * 60, "6 d 20 h"),
    ],
)
def test_durations_read_as_people_say_them(seconds: float, words: str) -> None:
    assert progress.duration(seconds) == words


def test_work_is_announced_with_its_usual_time_and_heard_of_now_and_then() -> None:
    now = [0.0]
    told: list[str] = []
    heartbeat = progress.Heartbeat(told.append, "building", "3 to 5 minutes", lambda: now[0])
    for now[0] in (1, 29, 31, 32, 62):
        heartbeat.beat("file 7")
    now[0] = 80
    heartbeat.done()

    assert told == [
        "building (usually 3 to 5 minutes)",
        "building: 31 s so far, file 7",
        "building: 1 min 2 s so far, file 7",
        "building: done in 1 min 20 s",
    ]
