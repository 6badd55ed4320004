"""Writes its call stack, innermost first, and asks for its parent at the same line of a function."""
import functools
import os
import random
import sys
import threading

out = open(sys.argv[1], "w")
choice = random.Random(7)
lock = threading.Lock()


def leaf():
    frame = sys._getframe()
    words = [str(threading.get_native_id())]
    while frame is not None:
        code = frame.f_code
        words += [getattr(code, "co_qualname", code.co_name), str(frame.f_lineno)]
        frame = frame.f_back
    with lock:
        out.write("\t".join(words) + "\n")
        out.flush()
        os.getppid()


class Kind:
    def __init__(self, depth):
        self.depth = depth

    def method(self):
        return step(self.depth)

    @staticmethod
    def static(depth):
        return step(depth)

    def __len__(self):
        step(self.depth)
        return 1

    def __iter__(self):
        step(self.depth)
        yield 1

    def __lt__(self, other):
        step(self.depth)
        return True

    def __del__(self):
        if self.depth == 3:
            step(2)


def generator(depth):
    yield 1
    yield step(depth)


def coroutine(depth):
    async def inner():
        return step(depth)

    try:
        inner().send(None)
    except StopIteration:
        pass


def delegating(depth):
    yield from generator(depth)


def exceptional(depth):
    try:
        raise ValueError(depth)
    except ValueError:
        return step(depth)


def ünïcode_名(depth):
    return step(depth)


def step(depth):
    if depth <= 0:
        return leaf()
    kind = Kind(depth - 1)
    ways = [
        lambda: step(depth - 1),
        kind.method,
        lambda: Kind.static(depth - 1),
        lambda: list(generator(depth - 1)),
        lambda: sorted([1, 2], key=lambda value: (value == 1 and step(depth - 1), value)[1]),
        lambda: len(kind),
        lambda: coroutine(depth - 1),
        lambda: exceptional(depth - 1),
        functools.partial(step, depth - 1),
        lambda: eval("step(depth)", {"step": step, "depth": depth - 1}),
        lambda: list(kind),
        lambda: [step(depth - 1) for _ in (1,)],
        lambda: list(map(step, [depth - 1])),
        lambda: sorted([kind, kind]),
        lambda: list(delegating(depth - 1)),
        lambda: ünïcode_名(depth - 1),
    ]
    return ways[choice.randrange(len(ways))]()


def main(rounds):
    for i in range(rounds):
        step(i % 11)


main(60)
other = threading.Thread(target=main, args=[40])
other.start()
other.join()
