"""Versions of kernels as the suite's runner compares them: numbers before and behind dots."""

import functools
import re


@functools.total_ordering
class LooseVersion:
    def __init__(self, text):
        words = re.findall(r"\d+|[a-z]+", text)
        # A word sorts before any number.
        self.parts = [(1, int(word), "") if word.isdigit() else (0, 0, word) for word in words]

    def __eq__(self, other):
        return self.parts == other.parts

    def __lt__(self, other):
        return self.parts < other.parts
