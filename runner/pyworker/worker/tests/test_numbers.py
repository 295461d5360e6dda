"""Tests that a number as an argument has the same value in JSON and as a word."""

from client import Case

LONG = "9" * 5000
PLUGIN = """
import dataclasses, datetime, decimal, enum, typing
class Level(enum.Enum):
    LOW = 1
@dataclasses.dataclass
class Box:
    side: int
def take_int(value: int): return hex(value)
def take_float(value: float): return repr(value)
def take_default(value=1.5): return repr(value)
def take_named(*, value: float): return repr(value)
def take_decimal(value: decimal.Decimal): return len(str(value))
def take_text(value: str): return value
def take_bool(value: bool): return value
def take_level(value: Level): return value
def take_date(value: datetime.date): return 1
def take_duration(value: datetime.timedelta): return 1
def take_literal(value: typing.Literal[1, 2]): return value
def take_union(value: typing.Union[int, datetime.date]): return hex(value)
def take_ints(value: typing.List[int]): return [hex(one) for one in value]
def take_floats(value: typing.List[float]): return value
def take_dates(value: typing.List[datetime.date]): return value
def take_box(value: Box): return hex(value.side)
"""


class NumberTest(Case):
    PLUGIN = PLUGIN

    def ask(self, hook, literal, word):
        """Calls a hook with a number in JSON, or as a word."""
        form = '{"words": [{"text": "%s"}]' if word else '{"args": [%s]'
        return self.worker.ask("C", (form % literal + ', "hook": "%s"}' % hook).encode())

    def test_same(self):
        for hook, literal, want in (
            ("take_int", "2.0", "0x2"),
            ("take_int", "-0.0", "0x0"),
            ("take_int", "9007199254740993.0", hex(9007199254740993)),
            ("take_union", "9007199254740993.0", hex(9007199254740993)),
            ("take_int", "1e23", None),
            ("take_int", "2.5", None),
            ("take_int", LONG, hex(10**5000 - 1)),
            ("take_float", "1e3", "1000.0"),
            ("take_float", "1e400", None),
            ("take_float", "-1e400", None),
            ("take_default", "1e400", None),
            ("take_float", LONG, None),
            ("take_decimal", LONG, 5000),
            ("take_bool", LONG, None),
            ("take_level", LONG, None),
            ("take_date", LONG, None),
            ("take_duration", LONG, None),
            ("take_literal", LONG, None),
        ):
            for word in (False, True):
                with self.subTest(hook, literal=literal[:20], word=word):
                    answer = self.ask(hook, literal, word)
                    if want is None:
                        self.refused(answer, "arguments")
                    else:
                        self.ok(answer, want)

    def test_within(self):
        for hook, value, want in (
            ("take_ints", "[1, 9007199254740993.0]", [hex(1), hex(9007199254740993)]),
            ("take_ints", "[1, 1e23]", None),
            ("take_floats", "[1.5, 2.5]", [1.5, 2.5]),
            ("take_floats", "[1.5, -1e400]", None),
            ("take_dates", "[%s]" % LONG, None),
            ("take_box", '{"side": 9007199254740993.0}', hex(9007199254740993)),
            ("take_box", '{"side": 1e23}', None),
            ("take_text", LONG, None),
        ):
            with self.subTest(hook, value=value[:40]):
                answer = self.ask(hook, value, False)
                if want is None:
                    self.refused(answer, "arguments")
                else:
                    self.ok(answer, want)
        self.refused(self.worker.ask("C", b'{"hook": "take_named", "kwargs": {"value": 1e400}}'), "arguments")

    def test_message(self):
        for literal, text in (
            ("1e400", "value is 1e400, expected float: it is too large"),
            ("1e23", "value is 1e23, expected int"),
        ):
            hook = "take_float" if "float" in text else "take_int"
            self.assertEqual(self.refused(self.ask(hook, literal, False), "arguments")["message"], text)
