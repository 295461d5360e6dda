"""Dates, times and durations as ISO 8601 text, the same on every Python.

Loaded with the first annotation, or result, that needs it.
"""

import datetime

UNITS = (("W", 604800), ("D", 86400)), (("H", 3600), ("M", 60), ("S", 1))
DATE, TIME = "such as 2024-12-31", "such as 12:30:00"


def date(text):
    """Parses YYYY-MM-DD."""
    if len(text) != 10 or text[4] != "-" or text[7] != "-" or not text.isascii():
        raise ValueError
    return datetime.date.fromisoformat(text)


def time(text):
    """Parses HH:MM[:SS[.FFF]], with an offset from UTC or Z."""
    return datetime.time.fromisoformat(normal(text))


def moment(text):
    """Parses a date and a time, with a T or a space between them; midnight if there is but a date."""
    day, clock = text[:10], text[10:]
    if not clock:
        found = date(day)
        return datetime.datetime(found.year, found.month, found.day)
    if clock[0] not in "Tt ":
        raise ValueError
    return datetime.datetime.combine(date(day), time(clock[1:]))


def normal(text):
    """A time as every Python reads it: microseconds, and the offset as +HH:MM."""
    sign = next((one for one in text if one in "+-Zz"), "")
    clock, _, offset = text.partition(sign) if sign else (text, "", "")
    if sign in ("Z", "z"):
        if offset:
            raise ValueError
        sign, offset = "+", "0000"
    clock, point, fraction = clock.replace(",", ".").partition(".")
    parts, digits = clock.split(":"), offset.replace(":", "")
    if not all(len(part) == 2 and is_number(part) for part in parts) or not 1 < len(parts) < 4:
        raise ValueError
    if point and (len(parts) < 3 or not is_number(fraction)):
        raise ValueError
    if sign and (not is_number(digits) or len(digits) not in (2, 4)):
        raise ValueError
    clock = ":".join(parts) + ("." + fraction[:6].ljust(6, "0") if point else "")
    return clock + (sign + digits[:2] + ":" + (digits[2:] or "00") if sign else "")


def is_number(text):
    return text.isascii() and text.isdigit()


def duration(text):
    """Parses an ISO 8601 duration of weeks, days, hours, minutes and seconds, or a number of seconds."""
    text = text.strip()
    sign = -1 if text[:1] == "-" else 1
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest[:1] not in ("P", "p"):
        return sign * seconds(rest)
    total, found = datetime.timedelta(), False
    days, mark, clock = rest[1:].upper().partition("T")
    for part, units in zip((days, clock), UNITS):
        for unit, size in units:
            number, seen, after = part.partition(unit)
            if seen:
                total, part, found = total + seconds(number, size), after, True
        if part:
            raise ValueError
    if not found or mark and not clock:
        raise ValueError
    return sign * total


def seconds(text, size=1):
    """So many seconds; a part of them to the microsecond, without the error of a float."""
    whole, point, fraction = text.replace(",", ".").partition(".")
    if not is_number(whole) or point and not is_number(fraction):
        raise ValueError
    parts = int(fraction[:6].ljust(6, "0")) if point else 0
    return datetime.timedelta(seconds=int(whole) * size, microseconds=parts * size)


PARSERS = {"date": date, "datetime": moment, "time": time, "timedelta": duration}


def duration_text(value):
    """A timedelta as ISO 8601, such as P1DT2H or -PT0.5S."""
    sign = "-" if value < datetime.timedelta() else ""
    value = abs(value)
    minutes, left = divmod(value.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = (".%06d" % value.microseconds).rstrip("0") if value.microseconds else ""
    clock = ("%dH" % hours if hours else "") + ("%dM" % minutes if minutes else "")
    if left or fraction:
        clock += "%d%sS" % (left, fraction)
    days = "%dD" % value.days if value.days else ""
    return sign + "P" + days + ("T" + clock if clock or not days else "") + ("0S" if not clock and not days else "")
