"""Generate the sample of visits: bus trips of made-up people in four weeks. No real person is in it.

Only ``random.Random.random`` is drawn from, whose numbers are the same in every version of Python.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

FILE = Path(__file__).resolve().parent.parent / "src" / "unveil" / "data" / "samples" / "visits.csv"
PEOPLE, DAYS, STOPS = 80, 28, 300
SEED = 5

_TRIPS = 4  # the most trips of a day; each is made with a chance of one half
_OWN = 0.6  # the chance that a trip goes to a stop of the person's own, and is made at the person's own hour
_SPREAD = 5.0  # hours around the own hour
_START = datetime(2026, 3, 2)


def main() -> None:
    """Write the file, and state its size."""
    text = visits()
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.name}: {text.count(chr(10)) - 1} trips, {len(text)} characters")


def visits() -> str:
    """Return the sample as CSV; it is the same every time."""
    random = Random(SEED).random  # noqa: S311 (nothing is kept secret with it)
    trips = [trip for person in range(PEOPLE) for trip in _trips_of(person, random)]
    lines = (f"c{person + 101},{time:%Y-%m-%dT%H:%M},S{stop + 1000}" for time, _, person, stop in sorted(trips))
    return "\n".join(("card,time,stop", *lines, ""))


def _trips_of(person: int, random: Callable[[], float]) -> list[tuple[datetime, float, int, int]]:
    """Return time, a random number to break ties, person and stop of each trip."""
    own = [int(STOPS * random()) for _ in range(3 + int(4 * random()))]
    hour = 8 + 12 * random()
    trips = []
    for day in range(DAYS):
        for _ in range(_TRIPS):
            if random() < 0.5:
                continue
            # The square makes some stops more frequent: of a person's own, and of all.
            stop = own[int(len(own) * random() ** 2)] if random() < _OWN else int(STOPS * random() ** 2)
            about = hour + _SPREAD * (random() - random()) if random() < _OWN else 6 + 17 * random()
            minutes = int(60 * min(max(about, 5.0), 23.9))
            trips.append((_START + timedelta(days=day, minutes=minutes), random(), person, stop))
    return trips


if __name__ == "__main__":
    main()
