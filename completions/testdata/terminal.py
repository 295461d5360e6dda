"""Types lines into a shell in a terminal, and prints the words that the program then gets.

Reads JSON: "shell", its command line; "setup", its first line; "cwd", its working directory; "dir", a directory
with a FIFO named words, to which the program writes its words, each with a NUL, and one NUL more; "lines", what is
typed before Enter. Prints JSON: for each line the words, or the screen if the program did not run.
"""

import json
import os
import pty
import select
import signal
import sys
import time

class Terminal:
    def __init__(self, asked, limit):
        self.limit = limit  # seconds for one line
        self.fifo = os.open(os.path.join(asked["dir"], "words"), os.O_RDWR | os.O_NONBLOCK)
        self.pid, self.tty = pty.fork()
        if self.pid == 0:
            os.chdir(asked["cwd"])
            os.execvp(asked["shell"][0], asked["shell"])
        self.words_of(asked["setup"] + "; pyplug ready")

    def words_of(self, line):
        """Type a line and Enter, and return the words that the program got."""
        os.write(self.tty, line.encode() + b"\r")
        end, screen, words = time.monotonic() + self.limit, b"", b""
        while not words.endswith(b"\0\0"):
            ready, _, _ = select.select([self.tty, self.fifo], [], [], max(0, end - time.monotonic()))
            if not ready:
                return screen.decode("utf-8", "replace")
            if self.fifo in ready:
                words += os.read(self.fifo, 1 << 16)
            if self.tty in ready:
                screen += os.read(self.tty, 1 << 16)
        return words[:-2].decode("utf-8", "replace").split("\0")

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.tty)
        os.close(self.fifo)


def main():
    asked, answers, terminal = json.load(sys.stdin), [], None
    limit = 30  # on a busy machine
    for line in asked["lines"]:
        terminal = terminal or Terminal(asked, limit)
        answers.append(terminal.words_of(line))
        if isinstance(answers[-1], str):  # the shell may wait for the end of a quote
            terminal.close()
            terminal, limit = None, 3
    if terminal:
        terminal.close()
    print(json.dumps(answers))


main()
