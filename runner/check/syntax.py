# Finds out from the syntax of a file whether it compiles, what it imports, and whether it changes
# where modules are found. This is the second part of source.py, which imports what it needs.

LONGEST = 1000  # characters of a message, and of a line of source

CAUGHT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
# Names and modules that change where modules are found, or run another program.
ALTERERS = set(
    "meta_path path_hooks path_importer_cache __path__ addsitedir extend_path declare_namespace exec execfile"
    " execl execle execlp execlpe execv execve execvp execvpe".split()
)
IMPORTERS = set(
    "autoreload clr coconut cppyy findspark hy jpype macropy pyrootutils pythonnet pyximport rootutils virtualenv".split()
)
MAY_ALTER = [word.encode() for word in {"sys", "pip"} | ALTERERS | IMPORTERS]  # alters searches only files with one of these


def syntax_error(source, path):
    """Returns why a file does not compile; None if it does."""
    try:
        compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        text = str(error.text or "").rstrip()
        short = len(text) <= LONGEST
        return {
            "type": type(error).__name__, "message": str(error.msg)[:LONGEST], "line": error.lineno or line_of_zero(source),
            "text": text if short else "", "column": max(error.offset or 0, 0) if short else 0,
        }  # fmt: skip
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        message = str(error)[:LONGEST]
        return {"type": type(error).__name__, "message": message, "line": line_of_zero(source), "text": "", "column": 0}
    return None


def line_of_zero(source):
    """Returns the line of the first null byte, which Python does not report; 0 if there is none."""
    zero = source.find(b"\0")
    return source.count(b"\n", 0, zero) + 1 if zero >= 0 else 0


def statements(nodes, hard, guarded=False, defs=0, tries=()):
    """Yields line, module, level, names, hard and guarded of each import.

    An import is hard if loading the file cannot succeed without it, and guarded if its
    failure is caught or if it is for type checkers alone. tries lists the function depths at
    which a failed import is caught.
    """
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            caught = guarded or defs in tries
            firm = hard and not caught and not defs
            if isinstance(node, ast.ImportFrom):
                yield node.lineno, node.module or "", node.level, [a.name for a in node.names], firm, caught
            else:
                for alias in node.names:
                    yield node.lineno, alias.name, 0, [], firm, caught
            continue
        for body, firm, caught, deeper, more in blocks(node):
            yield from statements(body, hard and firm, guarded or caught, defs + deeper, tries + (defs,) * more)


def blocks(node):
    """Yields each block of a statement, whether it always runs, whether a failure in it is caught,
    whether it is a function's, and whether handlers of the statement catch a failed import."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield node.body, True, False, 1, 0
    elif isinstance(node, ast.ClassDef):
        yield node.body, True, False, 0, 0
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield node.body, True, suppresses(node), 0, 0
    elif isinstance(node, ast.If):
        skipped = skips_body(node.test)
        yield node.body, skipped is not None, skipped is True, 0, 0
        yield node.orelse, skipped is not None, skipped is False, 0, 0
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        yield node.body + node.orelse, False, False, 0, 0
    elif hasattr(node, "cases"):
        for case in node.cases:
            yield case.body, False, False, 0, 0
    elif hasattr(node, "handlers"):
        caught = any(h.type is None or names_in(h.type) & CAUGHT for h in node.handlers)
        yield node.body, True, False, 0, int(caught)
        for handler in node.handlers:
            yield handler.body, False, False, 0, 0
        yield node.orelse, False, False, 0, 0
        yield node.finalbody, True, False, 0, 0


def walk(node):
    """Yields a node and all nodes below it, those above first."""
    nodes = [node]
    for node in nodes:
        yield node
        for field in node._fields:
            value = getattr(node, field, None)
            nodes.extend(part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST))


def names_in(node):
    return {n.id for n in walk(node) if isinstance(n, ast.Name)}


def last_name(node):
    return getattr(node, "id", getattr(node, "attr", ""))


def skips_body(test):
    """Returns True for a condition that is false on this Python, False for a true one, None for an unknown one.

    TYPE_CHECKING is false, and the version of this Python is known.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        skipped = skips_body(test.operand)
        return skipped if skipped is None else not skipped
    if isinstance(test, ast.Compare) and last_name(test.left) == "version_info" and len(test.ops) == 1:
        wanted = tuple(getattr(item, "value", None) for item in getattr(test.comparators[0], "elts", ()))
        if wanted and all(type(number) is int for number in wanted):
            has, order = sys.version_info, type(test.ops[0])
            known = {ast.GtE: has >= wanted, ast.Gt: has > wanted, ast.Lt: has < wanted, ast.LtE: has <= wanted}
            return not known[order] if order in known else None
    return True if last_name(test) == "TYPE_CHECKING" else None


def suppresses(node):
    calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
    return any(last_name(c.func) == "suppress" and any(names_in(a) & CAUGHT for a in c.args) for c in calls)


def alters(tree):
    """Whether a file changes where modules are found, installs packages, or replaces itself with another program."""
    texts = set()  # docstrings
    for node in walk(tree):
        if isinstance(node, ast.Expr):
            texts.add(id(node.value))
        elif last_name(node) in ALTERERS:
            return True
        elif isinstance(node, ast.Attribute):
            inner = node.value
            if node.attr == "path" and last_name(inner).endswith("sys"):
                return True
            if node.attr in ("setdefault", "update", "__setitem__") and is_modules(inner):
                return True
        elif isinstance(node, ast.Subscript):
            if isinstance(node.ctx, ast.Store) and is_modules(node.value):
                return True
        elif isinstance(node, ast.Import):
            if any(a.name.split(".")[0] in IMPORTERS for a in node.names):
                return True
        elif isinstance(node, ast.ImportFrom):
            if node.module == "sys" and {"path", "modules", "*"} & {a.name for a in node.names}:
                return True
            if not node.level and (node.module or "").split(".")[0] in IMPORTERS:
                return True
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            if node.value == "pip" or "pip install" in node.value:
                return True
    return False


def is_modules(node):
    return isinstance(node, ast.Attribute) and node.attr == "modules" and last_name(node.value).endswith("sys")
