"""Writes lines that a CI system interprets as commands."""

COMMANDS = """\
::error file=app.py,line=1::not from the plugin's host
::set-env name=PATH::/tmp/evil
::add-mask::a
::stop-commands::token
::debug::x
##[error]azure style
##vso[task.setvariable variable=x]y
##teamcity[buildProblem description='x']"""


def say() -> str:
    """Print them."""
    print(COMMANDS, flush=True)
    return "said"


def fail():
    """Raise them in an error message."""
    raise RuntimeError("two lines\n" + COMMANDS)
