"""A hook that takes longer for some arguments."""
import time


def same(n: int) -> int:
    if n % 7 == 0:
        time.sleep(0.003)
    elif n % 5 == 3:
        time.sleep(0.0005)
    return n
