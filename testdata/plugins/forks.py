"""Forks in every way that Python offers."""

import concurrent.futures
import multiprocessing
import os


def _square(n):
    return n * n


def fork(code: int = 5) -> int:
    """Fork a child that exits at once; return its exit code."""
    child = os.fork()
    if child == 0:
        os._exit(code)
    return os.waitpid(child, 0)[1] >> 8


def fork_and_return():
    """Fork, and return in both processes: both answer the same call."""
    child = os.fork()
    return {"child": child == 0}


def pool(method: str = "fork", n: int = 4) -> list:
    """Compute squares in a pool of processes."""
    with multiprocessing.get_context(method).Pool(2) as workers:
        return workers.map(_square, range(n))


def executor(n: int = 4) -> list:
    """Compute squares in an executor of processes."""
    with concurrent.futures.ProcessPoolExecutor(2) as workers:
        return list(workers.map(_square, range(n)))


def leave_pool() -> list:
    """Start a pool and never close it; return the ids of its processes."""
    global _pool
    _pool = multiprocessing.get_context("fork").Pool(2)
    return [p.pid for p in _pool._pool]


def threads(n: int = 4) -> list:
    """Compute squares in threads."""
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        return list(workers.map(_square, range(n)))
