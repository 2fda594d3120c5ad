"""What croniter and zoneinfo say: when cron rules fire, as seconds since 1970.

    cron_peer.py START END ZONE... < rules

START and END are dates. Each line of the input is a rule in croniter's dialect, seconds first if it
has six fields. For each rule and each zone, in that order, one line of numbers comes out.

croniter only does the calendar: it walks naive local times, and zoneinfo gives them their zone.
Near a change of a zone's offset that is not a firing but a question, so firings within QUIET of a
change are left out; what happens there has its own, hand-checked tests.
"""

import sys
from bisect import bisect_left
from datetime import datetime, timedelta, timezone
from zoneinfo import TZPATH, ZoneInfo

from croniter import croniter

QUIET = 26 * 3600


def main(start, end, *names):
    if TZPATH:
        sys.exit("zoneinfo reads the machine's zones: set PYTHONTZPATH to nothing")
    start, end = datetime.fromisoformat(start), datetime.fromisoformat(end)
    zones = [(ZoneInfo(name), changes(ZoneInfo(name), start, end)) for name in names]
    for line in sys.stdin:
        local = local_times(line.strip(), start, end)
        for zone, near in zones:
            print(*firings(local, zone, near))


def local_times(rule, start, end):
    walk = croniter(rule, start - timedelta(seconds=1), second_at_beginning=True, max_years_between_matches=100)
    times = []
    while (at := walk.get_next(datetime)) < end:
        times.append(at)
    return times


def firings(local, zone, near):
    seconds = (int(at.replace(tzinfo=zone).timestamp()) for at in local)
    return [at for at in seconds if not is_near(at, near)]


def is_near(at, near):
    index = bisect_left(near, at)
    return any(abs(at - change) <= QUIET for change in near[max(index - 1, 0) : index + 1])


def changes(zone, start, end):
    """The moments, to the minute, at which the offset changes; found by looking every day."""
    at = int(start.replace(tzinfo=timezone.utc).timestamp()) - 2 * QUIET
    last = int(end.replace(tzinfo=timezone.utc).timestamp()) + 2 * QUIET
    found = []
    for day in range(at, last, 86400):
        before = offset(zone, day)
        if offset(zone, day + 86400) != before:
            found.append(next(t for t in range(day, day + 86401, 60) if offset(zone, t) != before))
    return found


def offset(zone, at):
    return datetime.fromtimestamp(at, zone).utcoffset()


if __name__ == "__main__":
    main(*sys.argv[1:])
