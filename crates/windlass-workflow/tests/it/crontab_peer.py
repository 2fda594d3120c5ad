"""When the lines of a crontab fire, read and computed without a line of ours, as seconds since 1970.

    crontab_peer.py START END ZONE COUNT FILE

For each line that begins with five fields or a nickname of a time, one line comes out: the line's number, and the
first COUNT moments at which croniter says it fires in its zone. As in cron_peer.py, moments near a change of the zone's
offset are left out.
"""

import re
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

from cron_peer import changes, is_near
from croniter import croniter

NICKNAMES = {"@every_minute": "* * * * *"}


def main(start, end, zone, count, path):
    start, end, count = datetime.fromisoformat(start), datetime.fromisoformat(end), int(count)
    with open(path, encoding="utf-8", errors="replace") as crontab:
        for number, line in enumerate(crontab.read().splitlines(), 1):
            line = line.strip().lstrip("-")
            if named := re.match(r"CRON_TZ\s*=\s*(\S+)", line):
                try:
                    zone = ZoneInfo(named[1]).key
                except Exception:
                    pass
            elif rule := rule_of(line):
                print(number, *firings(rule, start, end, ZoneInfo(zone), count))


def rule_of(line):
    words = line.split()
    if not words or not re.match(r"[0-9*@~]", line):
        return None
    rule = NICKNAMES.get(words[0], words[0]) if line.startswith("@") else " ".join(words[:5])
    # A random minute begins with the first that it may be.
    rule = re.sub(r"^(\d*)~\d*", lambda found: found[1] or "0", rule)
    return rule if croniter.is_valid(rule) else None


def firings(rule, start, end, zone, count):
    near = changes(zone, start, end)
    walk = croniter(rule, start, max_years_between_matches=10)
    found = []
    try:
        while len(found) < count and (at := walk.get_next(datetime)) < end:
            seconds = int(at.replace(tzinfo=zone).timestamp())
            if not is_near(seconds, near):
                found.append(seconds)
    except Exception:
        # It never fires.
        pass
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
