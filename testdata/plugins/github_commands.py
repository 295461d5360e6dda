"""Writes lines that a CI system takes for commands."""

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
    """Raise them, so that they stand in an error's message."""
    raise RuntimeError("two lines\n" + COMMANDS)
