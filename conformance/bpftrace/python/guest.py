"""Runs cases.py in a QEMU guest: the same lines as by its standard input and output, in files.

The guest sees this machine's files, read only under a layer in memory, and the folder "share" of
the work directory as /mnt. A case that ends the guest (a panic, a hang) has failed; the next case
boots another.
"""

import atexit
import os
import shlex
import shutil
import subprocess
import time
from pathlib import Path

# Emulation is ten to thirty times slower than the machine: the limits of the suite are longer.
SLOWNESS = 20
CASE_SECONDS = 900
GUEST_SECONDS = 4 * 3600
BOOT_SECONDS = 180
# What the suite expects to be loaded, and what its tools trace.
MODULES = "nf_tables,xfs,kvm,md_mod"


class GuestGone(Exception):
    pass


def java_home(root):
    script = f". {shlex.quote(str(root))}/launcher/jdk.sh; java_home"
    return subprocess.run(
        ["sh", "-c", script], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()


def image(root, work):
    """A copy of the built image, which a build cannot change under a guest, and its start-up
    cache; in a guest files have other inodes, so the cache is named there."""
    subprocess.run([root / "sonde", "--version"], stdout=subprocess.DEVNULL, check=True)
    built, copy = root / "build/image", work / "image"
    name = "app/build-id"
    cache = work / "sonde.aot"
    if (copy / name).exists() and (copy / name).read_text() == (built / name).read_text():
        if cache.exists():
            return
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(built, copy, symlinks=True)
    cache.unlink(missing_ok=True)
    done = subprocess.run(
        [
            copy / "bin/java",
            f"-XX:AOTCacheOutput={cache}",
            *"-Xmx400m -Xss1m -XX:+UseSerialGC -XX:FreqInlineSize=120 -XX:-UsePerfData".split(),
            *f"-XX:-MaxFDLimit --enable-native-access=sonde.sys -p {copy}/app".split(),
            *f"-Dsonde.home={copy} -m sonde.cli/sonde.cli.Main --train sh -c true".split(),
        ],
        env=dict(os.environ, SONDE_TRAINING="1"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if not cache.exists():
        print(f"run: no start-up cache ({done.returncode}); every start takes half a minute more")


def boot(root, share, series, command):
    """Starts a guest with a command; what that prints is in share/cmd.out."""
    jars = ":".join(map(str, (root / "build/deps").glob("jspecify-*.jar")))
    kit = root / "testkit/src/main"
    process = subprocess.Popen(
        [
            f"{java_home(root)}/bin/java",
            "-Xmx128m",
            "-cp",
            f"{kit}/resources:{jars}",
            f"{kit}/java/sonde/testkit/guest/GuestCommand.java",
            series,
            str(share),
            str(GUEST_SECONDS),
            MODULES,
            *command,
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=open(share / "errors", "w"),
    )
    # Ends with this script, whose threads may wait for it.
    atexit.register(process.terminate)
    return process


class GuestJob:
    """A command in a guest, and its output as it comes."""

    def __init__(self, root, share, series, command):
        shutil.rmtree(share, ignore_errors=True)
        share.mkdir(parents=True)
        self.output = share / "cmd.out"
        self.output.touch()
        self.process = boot(root, share, series, command)

    def lines(self, seconds):
        end = time.monotonic() + seconds
        part = ""
        try:
            with open(self.output, errors="backslashreplace") as output:
                while True:
                    over = self.process.poll() is not None
                    text = output.readline()
                    part += text
                    if part.endswith("\n"):
                        yield part
                        part = ""
                    elif not text and (over or time.monotonic() > end):
                        return
                    elif not text:
                        time.sleep(0.2)
        finally:
            self.process.terminate()
            self.process.wait()


class GuestProcess:
    """A guest with cases.py in it, with the methods of a process that the runner uses."""

    def __init__(self, root, work, series, environment, number=0):
        self.share = work / f"share-{number}"
        shutil.rmtree(self.share, ignore_errors=True)
        self.share.mkdir()
        (self.share / "cases").touch()
        (self.share / "answers").touch()
        # By this folder the suite knows a machine that is only for tests.
        (self.share / "vmtest").mkdir()
        exports = "".join(
            f"export {name}={shlex.quote(value)}\n"
            for name, value in environment.items()
            if name.startswith(("BPFTRACE_", "RUNTIME_", "PYTHON"))
        )
        (self.share / "sonde-guest-job").write_text(
            exports
            + "export SONDE_CASES_SLOWNESS=%d\n" % SLOWNESS
            + f"cd {shlex.quote(str(work))}\n"
            + f"exec python3 {Path(__file__).resolve().parent}/cases.py --folder /mnt\n"
        )
        self.process = boot(root, self.share, series, ["bash", "/mnt/sonde-guest-job"])
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


