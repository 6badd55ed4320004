"""Runs cases with the suite's own parser and runner, in the directory they are made for.

Reads the name of a case as JSON from each line of standard input, answers with a line
"RESULT {...}" behind what the runner says. With --list names all cases and where they can run. With --folder DIR
the names come from DIR/cases, which grows, and what is said goes to DIR/answers: in a guest.
"""

import ctypes
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

import runner
from parser import TestParser
from runner import Runner

EXECUTABLE = os.environ["BPFTRACE_RUNTIME_TEST_EXECUTABLE"]
# By how much everything is slower than on the machines that the suite has its limits from.
SLOWNESS = int(os.environ.get("SONDE_CASES_SLOWNESS", "1"))


def runtime_cases():
    cases = {}
    for suite, tests in sorted(TestParser.read_all(False), key=lambda one: one[0]):
        for test in tests:
            name = f"{suite}.{test.name}"
            count = 2
            while name in cases:
                name = f"{suite}.{test.name} #{count}"
                count += 1
            cases[name] = test
    return cases


def file_cases():
    """The scripts that test themselves, and the tools, which must be accepted."""
    cases = {}
    for file in sorted(Path("self").rglob("*.bt")):
        cases[f"self.{file.relative_to('self').with_suffix('')}"] = [EXECUTABLE, "--test", str(file)]
    for file in sorted(Path("tools").glob("*.bt")):
        cases[f"tools.{file.stem}"] = [EXECUTABLE, "--unsafe", "--dry-run", str(file)]
    return cases


def place(case):
    """Where a case can run: "guest" needs a kernel with kprobes and fentry, "pmu" counters."""
    if isinstance(case, list):
        text = Path(case[-1]).read_text(errors="replace") if "tools" in case[-1] else ""
    else:
        text = case.prog or case.run or ""
        scripts = re.findall(r"runtime/scripts/\S+\.bt", text)
        text += "".join(Path(script).read_text() for script in scripts)
    before = r"(?:^|[\s,;'\"}=])"
    if re.search(before + r"(?:hardware|h):", text):
        return "pmu"
    kernel = r"(?:kprobe|kretprobe|k|kr|fentry|fexit|f|fr|kfunc|kretfunc):"
    return "guest" if re.search(before + kernel, text, re.M) else "here"


def run_file(command):
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
            timeout=60 * SLOWNESS,
        )
    except subprocess.TimeoutExpired:
        return "fail", "timeout"
    print(done.stdout)
    if done.returncode == 0:
        return "pass", ""
    return "fail", reason(done.stdout) or f"exit status {done.returncode}"


def run_test(test):
    text = io.StringIO()
    try:
        with redirect_stdout(text):
            status = Runner.run_test(test)
    except Exception as error:  # the runner's own: a BEFORE that does not start, …
        print(text.getvalue())
        return "fail", f"runner: {type(error).__name__}: {error}"[:120]
    print(text.getvalue())
    if status == Runner.PASS:
        return "pass", ""
    if Runner.skipped(status):
        return "skip", Runner.skip_reason(test, status)[:120]
    if status == Runner.TIMEOUT:
        return "fail", reason(text.getvalue()) or "timeout"
    return "fail", reason(text.getvalue()) or "other output"


def reason(text):
    """The first error that the program reported, else how it ended."""
    output = re.search(r"\t(?:Output|Found|Current output):(.*)", text, re.S)
    found = output.group(1) if output else text
    lines = found.replace("\\n", "\n")
    for error in re.findall(r"(?:ERROR|Exception|error): ?[^\n]*", lines):
        # Said by old releases of bpftrace, which go on.
        if "RLIMIT_MEMLOCK" not in error:
            return error[:120].replace("\t", " ").strip()
    code = re.search(r"Unclean exit code: (-?\d+)", text)
    if code:
        return f"exit status {code.group(1)}"
    return "exit status 0, an error was expected" if "Clean exit code" in text else ""


def adopt():
    """Whatever a case leaves becomes a child of this process."""
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)


def clear():
    """Ends what a case has left running, with all that those have started."""
    for _ in range(20):
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not children:
            return
        for child in children:
            try:
                os.kill(int(child), signal.SIGKILL)
                os.waitpid(int(child), 0)
            except (ProcessLookupError, ChildProcessError):
                pass
        time.sleep(0.01)


def slow_down():
    """Longer limits: to attach, and to end behind SIGTERM (a second in the suite)."""
    runner.ATTACH_TIMEOUT *= SLOWNESS
    communicate = subprocess.Popen.communicate

    def longer(process, input=None, timeout=None):
        return communicate(process, input, timeout and timeout * SLOWNESS / 2)

    subprocess.Popen.communicate = longer


def from_folder(folder):
    """The lines of a file that another kernel writes; output goes to the file beside it."""
    answers = os.open(folder / "answers", os.O_WRONLY | os.O_APPEND)
    os.dup2(answers, 1)
    os.dup2(answers, 2)
    asked = ""
    with open(folder / "cases") as cases:
        while True:
            text = cases.readline()
            asked += text
            if asked.endswith("\n"):
                yield asked
                asked = ""
            elif not text:
                time.sleep(0.2)


def main():
    cases = {**runtime_cases(), **file_cases()}
    if "--list" in sys.argv:
        for name, case in cases.items():
            print(json.dumps([name, place(case)]))
        return
    adopt()
    if SLOWNESS > 1:
        slow_down()
    for line in sys.stdin if "--folder" not in sys.argv else from_folder(Path(sys.argv[-1])):
        case = cases[json.loads(line)]
        if not isinstance(case, list):
            case = case._replace(timeout=case.timeout * SLOWNESS)
        status, why = run_file(case) if isinstance(case, list) else run_test(case)
        clear()
        sys.stdout.flush()
        print("RESULT " + json.dumps({"status": status, "reason": why}), flush=True)


if __name__ == "__main__":
    main()
