"""Runs cases.py in a QEMU guest: the same lines as by its standard input and output, in files.

The guest sees this machine's files, read only under a layer in memory, and the folder "share" of
the work directory as /mnt. A case that ends the guest (a panic, a hang) has failed; the next case
boots another.
"""

import os
import shlex
import shutil
import subprocess
import time
from pathlib import Path

# Emulation is ten to thirty times slower than the machine: the limits of the suite are longer.
SLOWNESS = 8
CASE_SECONDS = 400
GUEST_SECONDS = 4 * 3600
BOOT_SECONDS = 180
# What the suite expects to be loaded, and what its tools trace. kvm and xfs have types of modules.
MODULES = "nf_tables,xfs,kvm"


class GuestGone(Exception):
    pass


def java_home(root):
    script = f". {shlex.quote(str(root))}/launcher/jdk.sh; java_home"
    return subprocess.run(
        ["sh", "-c", script], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()


def start_up_cache(root, work):
    """A copy of the start-up cache, as in a guest the files have other inodes."""
    subprocess.run([root / "sonde", "--version"], stdout=subprocess.DEVNULL, check=True)
    build = root / "build/image/app/build-id"
    seen = build.stat()
    key = f"{build.read_text().split()[0]}-{int(seen.st_mtime)}-{seen.st_ino}"
    for _ in range(120):
        cache = Path(f"/var/cache/sonde/{key}.aot")
        if cache.exists():
            shutil.copyfile(cache, work / "sonde.aot")
            return
        time.sleep(0.5)
    print("run: no start-up cache; every start in the guest takes half a minute more", flush=True)


class GuestProcess:
    """A guest with cases.py in it, with the methods of a process that the runner uses."""

    def __init__(self, root, work, series, environment, number=0):
        self.share = work / f"share-{number}"
        shutil.rmtree(self.share, ignore_errors=True)
        self.share.mkdir()
        (self.share / "cases").touch()
        (self.share / "answers").touch()
        exports = "".join(
            f"export {name}={shlex.quote(value)}\n"
            for name, value in environment.items()
            if name.startswith(("BPFTRACE_", "RUNTIME_", "PYTHON"))
        )
        # The start-up cache is given, so nothing is to be trained. Modules that were loaded late
        # are in the types of the kernel only when sysfs has been read once.
        (self.share / "job").write_text(
            exports
            + "export SONDE_CASES_SLOWNESS=%d\n" % SLOWNESS
            + f"cd {shlex.quote(str(work))}\n"
            + f"exec python3 {Path(__file__).resolve().parent}/cases.py --folder /mnt\n"
        )
        jars = ":".join(map(str, (root / "build/deps").glob("jspecify-*.jar")))
        kit = root / "testkit/src/main"
        self.process = subprocess.Popen(
            [
                f"{java_home(root)}/bin/java",
                "-Xmx128m",
                "-cp",
                f"{kit}/resources:{jars}",
                f"{kit}/java/sonde/testkit/guest/GuestCommand.java",
                series,
                str(self.share),
                str(GUEST_SECONDS),
                MODULES,
                "bash",
                "/mnt/job",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=open(self.share / "errors", "w"),
        )
        self.answers = open(self.share / "answers", errors="backslashreplace")
        self.part = ""
        self.deadline = time.monotonic() + BOOT_SECONDS

    def ask(self, line):
        with open(self.share / "cases", "a") as cases:
            cases.write(line)
        self.deadline = max(self.deadline, time.monotonic() + CASE_SECONDS)

    def lines(self):
        while True:
            text = self.answers.readline()
            self.part += text
            if self.part.endswith("\n"):
                line, self.part = self.part, ""
                yield line
            elif self.process.poll() is not None:
                raise GuestGone("the guest ended: " + self.last_words())
            elif time.monotonic() > self.deadline:
                raise TimeoutError
            elif not text:
                time.sleep(0.2)

    def rest(self):
        """Between two cases."""

    def last_words(self):
        console = self.share / "console"
        lines = console.read_text(errors="replace").splitlines() if console.exists() else []
        lines += (self.share / "errors").read_text().splitlines()[-3:]
        told = [line for line in lines if "BUG" in line or "Oops" in line or "panic" in line]
        return (told or lines or [""])[-1].strip()[:100]

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.answers.close()


