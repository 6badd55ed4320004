#!/usr/bin/env python3
"""Makes a large trace.dat out of a small one by repetition.

    bench/grow.py IN OUT TIMES

IN is a trace.dat of version 7 with uncompressed pages, as sonde records. The pages of every buffer are
repeated with their time stamps moved on, so that OUT is what a TIMES as long recording would be:
same events, same density, times that go on rising. Layout: trace-cmd.dat.v7.5.txt.
"""
import mmap, os, struct, sys

OPTION_BUFFER = 3


def text(data, at):
    end = data.find(b"\0", at)
    return data[at:end].decode(), end + 1


def buffers(data):
    """Where each BUFFER option keeps its offset, and (place of offset and size, offset, size)."""
    at = 3 + 7                               # magic, "tracing"
    _, at = text(data, at)                   # version
    at += 2 + 4                              # byte order, long size, page size
    _, at = text(data, at)                   # compressor
    _, at = text(data, at)                   # and its version
    options, = struct.unpack_from("<Q", data, at)
    found = []
    while options:
        _, flags, _, size = struct.unpack_from("<HHIQ", data, options)
        if flags & 1:
            raise SystemExit("compressed options: not made by sonde record")
        at, end, options = options + 16, options + 16 + size, 0
        while at < end:
            option, length = struct.unpack_from("<HI", data, at)
            at += 6
            if option == 0:
                options, = struct.unpack_from("<Q", data, at)
                break
            if option == OPTION_BUFFER:
                place = at
                section, = struct.unpack_from("<Q", data, at)
                if struct.unpack_from("<HH", data, section)[1] & 1:
                    raise SystemExit("compressed pages: make the input without compression")
                _, inner = text(data, at + 8)
                _, inner = text(data, inner)
                page, count = struct.unpack_from("<II", data, inner)
                inner += 8
                cpus = []
                for _ in range(count):
                    _, offset, bytes_ = struct.unpack_from("<IQQ", data, inner)
                    cpus.append((inner + 4, offset, bytes_))
                    inner += 20
                found.append((place, page, cpus))
            at += length
    return found


def absolute_times(pages, start):
    """Where a sub-buffer of 64-bit commit words has absolute time stamps, type_len 31."""
    commit, = struct.unpack_from("<Q", pages, start + 8)
    at, end = start + 16, start + 16 + (commit & 0x7ffffff)
    while at < end:
        header, = struct.unpack_from("<I", pages, at)
        kind, delta = header & 31, header >> 5
        if kind == 29 and delta == 0:
            return
        if kind == 31:
            yield at
        if kind >= 30:
            at += 8
        elif kind in (0, 29):
            at += 4 + (struct.unpack_from("<I", pages, at + 4)[0] + 3 & ~3)
        else:
            at += 4 + 4 * kind


def absolute(pages, at):
    header, high = struct.unpack_from("<II", pages, at)
    return (high << 27) + (header >> 5)


def main():
    source, target, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(source, "rb") as f:
        data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
    first, last = None, 0
    all_ = buffers(data)
    for _, page, cpus in all_:
        for _, offset, size in cpus:
            for at in range(offset, offset + size, page):
                time, = struct.unpack_from("<Q", data, at)
                first = time if first is None else min(first, time)
                last = max(last, time)
    # A page says when it begins; what it holds may go on for as long as the recording did.
    span = 2 * (last - first) + 1_000_000_000
    patches = []
    with open(target, "wb") as out:
        out.write(data[:])
        for place, page, cpus in all_:
            out.seek(0, os.SEEK_END)
            section = out.tell()
            patches.append((place, struct.pack("<Q", section)))
            total = sum(size for _, _, size in cpus) * times
            start = (section + 16 + page - 1) // page * page
            out.write(struct.pack("<HHIQ", OPTION_BUFFER, 0, 0, start - section - 16 + total))
            out.write(bytes(start - section - 16))
            for where, offset, size in cpus:
                patches.append((where, struct.pack("<QQ", out.tell(), size * times)))
                pages = bytearray(data[offset:offset + size])
                fixed = [(at, absolute(pages, at)) for page_at in range(0, size, page)
                         for at in absolute_times(pages, page_at)]
                stamps = [struct.unpack_from("<Q", pages, at)[0] for at in range(0, size, page)]
                for round_ in range(times):
                    for number, stamp in enumerate(stamps):
                        struct.pack_into("<Q", pages, number * page, stamp + round_ * span)
                    for at, stamp in fixed:
                        moved = stamp + round_ * span
                        struct.pack_into("<II", pages, at, (moved & 0x7ffffff) << 5 | 31, moved >> 27)
                    out.write(pages)
        for where, what in patches:
            out.seek(where)
            out.write(what)


main()
