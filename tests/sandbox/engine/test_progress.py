"""Long tasks report their purpose, their usual duration, and that they are still running."""

from trainyard.sandbox.engine import progress


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
