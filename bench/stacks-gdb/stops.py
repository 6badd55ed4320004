"""Run by gdb: stops a process at each SIGPROF and writes time and frames of its stack."""

import json
import os
import time

import gdb

found = []
gdb.execute("handle SIGPROF stop print nopass")
gdb.execute("set backtrace past-main on")
for _ in range(int(os.environ["STOPS"])):
    try:
        gdb.execute("continue", to_string=True)
    except gdb.error:
        break
    if not gdb.selected_inferior().pid:
        break
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    frame, addresses = gdb.newest_frame(), []
    while frame is not None and len(addresses) < 255:
        if frame.type() != gdb.INLINE_FRAME:
            addresses.append(frame.pc())
        try:
            frame = frame.older()
        except gdb.error:
            break
    found.append((now, addresses))
    with open(os.environ["OUT"], "w") as out:
        json.dump(found, out)
gdb.execute("kill")
