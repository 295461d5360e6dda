"""What a storm calls. Each hook records its token first, so that a call made twice is found."""

import asyncio
import os
import random
import signal
import subprocess
import threading
import time


def begin(token):
    record = os.open(os.environ["ATTACK_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(record, token.encode() + b"\n")
    os.close(record)


def echo(token: str) -> str:
    begin(token)
    return token


async def later(token: str) -> str:
    begin(token)
    await asyncio.sleep(random.random() / 100)
    return token


def large(token: str) -> str:
    begin(token)
    return token * 20000


def stream(token: str):
    begin(token)
    for n in range(3):
        yield "%s %d" % (token, n)


def raises(token: str):
    begin(token)
    raise ValueError(token)


def hangs(token: str):
    begin(token)
    time.sleep(3600)


def spins(token: str):
    begin(token)
    while True:
        pass


def exits(token: str):
    begin(token)
    os._exit(random.choice([0, 1, 137]))


def kills(token: str):
    begin(token)
    os.kill(os.getpid(), random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV]))
    time.sleep(3600)


def forks(token: str) -> str:
    """Leaves a child that ignores its end, in its group or in a session of its own."""
    begin(token)
    subprocess.Popen(["sleep", "3600"], start_new_session=random.random() < 0.5)
    return token


def holds(token: str) -> str:
    """Leaves a child that has all descriptors of the worker."""
    begin(token)
    if os.fork() == 0:
        while True:
            signal.pause()
    return token


def stays(token: str) -> str:
    """Leaves a thread for which Python waits at its end."""
    begin(token)
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return token


def ends(token: str) -> str:
    """Ends the main thread when it waits for calls."""
    begin(token)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGALRM, leave)
        signal.setitimer(signal.ITIMER_REAL, random.random() / 10 + 0.001, 0.01)
    return token


def leave(signum, frame):
    if frame.f_code.co_name in ("fill", "select"):
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise SystemExit(3)


def closes(token: str) -> str:
    """Closes descriptors that are not its own, or all."""
    begin(token)
    low = random.randrange(32)
    os.closerange(low, random.choice([low + random.randrange(32), 1000]))
    return token
