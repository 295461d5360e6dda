"""Prints the imports of Python files as the compiler sees them.

Standard input names the files, one a line; each is answered by one JSON line:
null when this Python cannot parse it.
"""

import ast
import json
import sys
import warnings

CAUGHT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def names(node):
    inside = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in inside}


def asks(test):
    wanted = "set"
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, wanted = test.operand, "not"
    last = test
    while isinstance(test, ast.Attribute):
        test = test.value
    name = getattr(last, "id", getattr(last, "attr", ""))
    return wanted if isinstance(test, ast.Name) and name == "TYPE_CHECKING" else ""


def suppresses(node):
    for item in node.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and "suppress" in (getattr(call.func, "id", ""), getattr(call.func, "attr", "")):
            if any(names(a) & CAUGHT for a in call.args):
                return True
    return False


class Finder:
    def __init__(self):
        self.found = []

    def body(self, nodes, guarded, defs, conditional, tries=()):
        for node in nodes:
            self.node(node, guarded, defs, conditional, tries)

    def node(self, node, guarded, defs, conditional, tries):
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.add(alias.name, 0, None, node, guarded, defs, conditional, tries)
        elif isinstance(node, ast.ImportFrom):
            self.add(node.module or "", node.level, [a.name for a in node.names], node, guarded, defs, conditional, tries)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.body(node.body, guarded, defs + 1, conditional, tries)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self.body(node.body, guarded or suppresses(node), defs, conditional, tries)
        elif isinstance(node, ast.ClassDef):
            self.body(node.body, guarded, defs, conditional, tries)
        elif isinstance(node, ast.If):
            self.branches(node, guarded, defs, conditional, tries)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            self.body(node.body + node.orelse, guarded, defs, True, tries)
        elif hasattr(node, "cases"):
            for case in node.cases:
                self.body(case.body, guarded, defs, True, tries)
        elif hasattr(node, "handlers"):
            caught = any(h.type is None or names(h.type) & CAUGHT for h in node.handlers)
            self.body(node.body, guarded, defs, conditional, tries + ((defs,) if caught else ()))
            for handler in node.handlers:
                self.body(handler.body, guarded, defs, True, tries)
            self.body(node.orelse, guarded, defs, True, tries)
            self.body(node.finalbody, guarded, defs, conditional, tries)

    def branches(self, node, guarded, defs, conditional, tries, after=False):
        asked = asks(node.test)
        self.body(node.body, guarded or asked == "set", defs,
                  conditional or asked == "" or after and asked != "set", tries)
        rest = node.orelse
        if len(rest) == 1 and isinstance(rest[0], ast.If) and rest[0].col_offset == node.col_offset:
            self.branches(rest[0], guarded, defs, conditional, tries, True)
        elif after:
            self.body(rest, guarded, defs, True, tries)
        else:
            self.body(rest, guarded or asked == "not", defs, conditional or asked == "", tries)

    def add(self, module, level, taken, node, guarded, defs, conditional, tries):
        self.found.append([module, level, taken, node.lineno, guarded or defs in tries, defs > 0, conditional])


def main():
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            with open(line.rstrip("\n"), "rb") as f:
                tree = ast.parse(f.read())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            print("null")
            continue
        finder = Finder()
        finder.body(tree.body, False, 0, False)
        print(json.dumps(finder.found))


if __name__ == "__main__":
    main()
