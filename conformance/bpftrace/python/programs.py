"""Builds the programs that the suite traces, with the flags and names of its CMake files.

Those that need a tool which is not there (go, rustc, llvm-objcopy, llvm-dwp, zip) are left out, and
their cases fail or are skipped as the suite says.
"""

import shutil
import subprocess
import sys
from pathlib import Path

FLAGS = ["-g", "-O0", "-fno-omit-frame-pointer"]
WITHOUT_FRAMES = ["-g", "-O1", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"]


def build_programs(tests, work):
    """From tests/testprogs and tests/testlibs of a checkout into the same names of work."""
    Builder(tests, work).build()


class Builder:
    def __init__(self, tests, work):
        self.sources = (tests / "testprogs").resolve()
        self.libraries = (tests / "testlibs").resolve()
        self.include = (tests / "include").resolve()
        self.out = (work / "testprogs").resolve()
        self.lib = (work / "testlibs").resolve()
        self.failed = []

    def build(self):
        for directory in (self.out, self.lib):
            directory.mkdir(parents=True, exist_ok=True)
        for source in sorted(self.libraries.glob("*.c")):
            self.library(source)
        for source in sorted(self.sources.iterdir()):
            if source.suffix in (".c", ".cpp"):
                self.program(source, source.stem, ["-no-pie"], [])
                self.program(source, source.stem + "-pie", ["-pie"], ["-fpie"])
        self.other_languages()
        self.pieces()
        self.debug_files()
        for line in self.failed:
            print(f"not built: {line}", file=sys.stderr)

    def make(self, target, sources, command, **options):
        """Runs a command unless its target is newer than its sources."""
        sources = [Path(source) for source in sources]
        if target.exists() and all(
            source.stat().st_mtime <= target.stat().st_mtime for source in sources
        ):
            return
        if shutil.which(command[0]) is None:
            self.failed.append(f"{target.name}: there is no {command[0]}")
            return
        done = subprocess.run(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )
        if done.returncode != 0:
            self.failed.append(f"{target.name}: {done.stdout.strip()[:300]}")

    def library(self, source):
        target = self.lib / f"lib{source.stem}.so"
        command = ["gcc", "-g", "-O0", "-fPIC", "-shared", "-I", self.include, source, "-o", target]
        self.make(target, [source], command)
        if target.exists():
            # Objects that may not be executed are traced too.
            target.chmod(0o644)

    def program(self, source, name, link, compile_flags):
        flags = WITHOUT_FRAMES if source.stem == "uprobe_nofp" else FLAGS
        uses = ["-I", self.libraries, "-fPIC"] if source.stem == "usdt_lib" else []
        libraries = (
            [f"-L{self.lib}", f"-Wl,-rpath,{self.lib}", "-lusdt_tp"]
            if source.stem == "usdt_lib"
            else []
        )
        compiler = "g++" if source.suffix == ".cpp" else "gcc"
        target = self.out / name
        self.make(
            target,
            [source],
            [compiler, *flags, *compile_flags, *uses, "-I", self.include, source, *link]
            + ["-o", target, *libraries, "-lpthread"],
        )

    def other_languages(self):
        for source in self.sources.glob("*.go"):
            target = self.out / source.stem
            self.make(target, [source], ["go", "build", "-o", target, source], cwd=self.out)
        for source in self.sources.glob("*.rs"):
            target = self.out / source.stem
            flags = ["-C", "symbol_mangling_version=v0"]
            self.make(target, [source], ["rustc", *flags, "-o", target, source])

    def pieces(self):
        source = self.sources / "false.c"
        object_file = self.out / "false.o"
        flat = self.out / "false.bin"
        if not flat.exists():
            self.make(object_file, [source], ["gcc", "-c", source, "-o", object_file])
            keep = ["-S", "--only-section=.text", "--keep-symbol=main", "-O", "binary"]
            self.make(flat, [source], ["llvm-objcopy", *keep, object_file, flat])
            object_file.unlink(missing_ok=True)
        archive = self.out / "archive.zip"
        program = self.out / "true"
        self.make(archive, [program], ["zip", "-q", "-0", "-j", archive, program])

    def debug_files(self):
        external = self.out / "external_debug"
        own = self.out / ".debug"
        for directory in (external / "dwo", external / "dwp", own):
            directory.mkdir(parents=True, exist_ok=True)
        self.stripped("uprobe_test", external, [])
        debug = own / "uprobe_separate_debug-stripped.debug"
        self.stripped("uprobe_separate_debug", own, [f"--add-gnu-debuglink={debug}"])
        source = self.sources / "uprobe_test.c"
        flags = ["-g", "-O0", "-gsplit-dwarf", "-I", self.include]
        for directory in (external / "dwo", external / "dwp"):
            target = directory / "uprobe_test-split"
            self.make(target, [source], ["gcc", *flags, source, "-o", target], cwd=directory)
        package = external / "dwp" / "uprobe_test-split.dwp"
        program = external / "dwp" / "uprobe_test-split"
        self.make(package, [program], ["llvm-dwp", "-e", program, "-o", package])
        if package.exists():
            for piece in (external / "dwp").glob("*.dwo"):
                piece.unlink()

    def stripped(self, name, debug_directory, link):
        program = self.out / name
        debug = debug_directory / f"{name}-stripped.debug"
        target = self.out / f"{name}-stripped"
        copy = "llvm-objcopy"
        self.make(debug, [program], [copy, "--only-keep-debug", program, debug])
        self.make(target, [program], [copy, "--strip-debug", program, target])
        linked = self.out / f".{name}-linked"
        if link and target.exists() and debug.exists() and not linked.exists():
            self.make(linked, [target], [copy, *link, target])
            linked.touch()
