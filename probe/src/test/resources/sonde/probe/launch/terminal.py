"""Runs a shell with job control on a terminal and types into it.

Arguments: pairs of a text to wait for and a text to type then, with Python escapes. Prints all
that appeared. Exits 1 when a text does not come within 20 s.
"""
import os
import pty
import select
import sys
import time

pid, fd = pty.fork()
if pid == 0:
    os.environ.update(PS1="$ ", TERM="dumb", ENV="")
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])

seen = b""
start = 0
for expected, typed in zip(sys.argv[1::2], sys.argv[2::2]):
    expected = expected.encode().decode("unicode_escape").encode()
    deadline = time.time() + 20
    while expected not in seen[start:]:
        ready, _, _ = select.select([fd], [], [], max(0, deadline - time.time()))
        if not ready:
            sys.stdout.buffer.write(seen + b"\nno " + expected)
            os.kill(pid, 9)
            sys.exit(1)
        seen += os.read(fd, 65536)
    start = seen.index(expected, start) + len(expected)
    time.sleep(0.1)
    os.write(fd, typed.encode().decode("unicode_escape").encode())
os.write(fd, b"\nexit\nexit\n")
try:
    while True:
        seen += os.read(fd, 65536)
except OSError:
    pass
sys.stdout.buffer.write(seen)
