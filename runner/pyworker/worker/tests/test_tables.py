"""Tests tables as results, with substitutes for the classes of pandas."""

import unittest

from client import Case

PLUGIN = """
import datetime, sys, types

class Column:
    def __init__(self, items): self.items = list(items)
    def __len__(self): return len(self.items)
    def tolist(self): return list(self.items)
class Index(Column):
    nlevels, name, names, dtype = 1, None, [None], types.SimpleNamespace(kind="i")
    def get_level_values(self, level): return self if self.nlevels == 1 else Column(label[level] for label in self.items)
class Series(Column):
    name, index = None, Index(range(3))
class DataFrame:
    columns, index = [1, "b"], Index([0, 1])
    @property
    def iloc(self): return Cells()
class Cells:
    def __getitem__(self, at): return Column([[1, 2], [float("nan"), None]][at[1]])
def labeled(table, labels, *names):
    table.index = Index(labels)
    table.index.names, table.index.nlevels, table.index.name = list(names), len(names), names[0] if len(names) == 1 else None
    return table
def named(series, name):
    series.name = name
    return series
sys.modules["pandas"] = types.ModuleType("pandas")
vars(sys.modules["pandas"]).update(DataFrame=DataFrame, Series=Series, Index=Index)
TABLES = {
    "series": Series([1.5, float("nan"), datetime.date(2024, 2, 29)]), "index": Index([1, 3]), "frame": DataFrame(),
    "labels": labeled(Series([1, 2]), ["p", "q"], None), "later": labeled(Series([1, 2]), [1, 2], None),
    "key": labeled(named(Series([1, 2]), "n"), ["p", "q"], "k"), "same": labeled(named(Series([1]), "k"), ["p"], "k"),
    "numbers": labeled(named(Series([5]), "n"), [0], "k"), "levels": labeled(Series([1]), [("p", 2)], None, "k"),
    "rows": labeled(DataFrame(), ["x", "y"], None), "pairs": named(labeled(Series([1]), ["p"], None), ("x", "min")),
}
def table(name): return TABLES[name]
"""


class Tables(Case):
    PLUGIN = PLUGIN

    def test_tables(self):
        """Checks that a table keeps its labels unless they are only the positions of the rows."""
        for name, value in {
            "series": [1.5, None, "2024-02-29"],
            "index": [1, 3],
            "frame": [{"1": 1, "b": None}, {"1": 2, "b": None}],
            "labels": [{"index": "p", "value": 1}, {"index": "q", "value": 2}],
            "later": [{"index": 1, "value": 1}, {"index": 2, "value": 2}],
            "key": [{"k": "p", "n": 1}, {"k": "q", "n": 2}],
            "same": [{"k_index": "p", "k": 1}],
            "numbers": [{"k": 0, "n": 5}],
            "levels": [{"level_0": "p", "k": 2, "value": 1}],
            "rows": [{"index": "x", "1": 1, "b": None}, {"index": "y", "1": 2, "b": None}],
            "pairs": [{"index": "p", "x.min": 1}],
        }.items():
            self.ok(self.worker.call("table", name), value)


if __name__ == "__main__":
    unittest.main()
