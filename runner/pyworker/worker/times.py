"""Parses and writes dates, times and durations as ISO 8601 text, in the same way on every Python."""

import datetime
import re

DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
TIME = re.compile(r"(\d\d:\d\d)(?:(:\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-]\d\d)(?::?(\d\d))?)?", re.ASCII)
DURATION = re.compile(r"([+-]?)(?:P(?=.*\d)(?:NW)?(?:ND)?(?:T(?=\d)(?:NH)?(?:NM)?(?:NS)?)?|N)".replace("N", r"(\d+(?:\.\d+)?)"), re.ASCII)
SPAN = re.compile(r"([+-]?)(?=\d)(?:NW)?(?:ND)?(?:NH)?(?:NM)?(?:NS)?".replace("N", r"(\d+(?:\.\d+)?)"), re.ASCII)  # matches a text such as 1h30m
UNITS = ("weeks", "days", "hours", "minutes", "seconds")


def matched(pattern, text):
    found = pattern.fullmatch(text)
    if found is None:
        raise ValueError
    return found.groups("")


def date(text):
    matched(DATE, text)
    return datetime.date.fromisoformat(text)


def time(text):
    """Parses HH:MM[:SS[.FFF]], with an offset from UTC or Z."""
    minutes, seconds, fraction, is_utc, hours, rest = matched(TIME, text)
    clock = minutes + seconds + ("." + fraction[:6].ljust(6, "0") if fraction else "")
    zone = "+00:00" if is_utc else hours and hours + ":" + (rest or "00")
    return datetime.time.fromisoformat(clock + zone)


def moment(text):
    """Parses a date and a time, separated by T or a space. A date alone means midnight."""
    clock = text[10:]
    if clock and clock[0] not in "Tt ":
        raise ValueError
    return datetime.datetime.combine(date(text[:10]), time(clock[1:] if clock else "00:00"))


def duration(text):
    """Parses a duration of weeks, days, hours, minutes and seconds, such as PT1H30M or 1h30m, or a number of seconds."""
    text = text.strip().upper().replace(",", ".")
    sign, *numbers = matched(SPAN if text[-1:] in "WDHMS" and "P" not in text else DURATION, text)
    seconds = numbers[5] if len(numbers) > 5 else 0
    made = datetime.timedelta(**{unit: float(number or 0) for unit, number in zip(UNITS, numbers)})
    made += datetime.timedelta(seconds=float(seconds or 0))
    return -made if sign == "-" else made


PARSERS = {"date": date, "datetime": moment, "time": time, "timedelta": duration}


def duration_text(value):
    """Returns a timedelta in ISO 8601, such as P1DT2H or -PT0.5S."""
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
