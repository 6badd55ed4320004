package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import sonde.binary.elf.ElfFile;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;
import sonde.sys.TargetFile;

/**
 * The last look before a probe is set: the addresses were found in one file, and the kernel must
 * open that same one.
 */
final class ProbeCheck {
    private ProbeCheck() {}

    /**
     * Whether what is probed is still what was read.
     *
     * @return another path by which the kernel reaches the very file that is open here; empty where
     *     the plain path does, because nobody else can change what it names
     * @throws ProbeException when it was replaced, or is of another kernel or machine
     */
    static String check(ProbedObject subject) throws IOException {
        KernelImage kernel = subject.kernel();
        if (kernel != null) {
            Optional<String> foreign = kernel.foreign();
            if (foreign.isPresent()) {
                throw new ProbeException(foreign.get());
            }
            return "";
        }
        Optional<String> other = subject.otherMachine();
        if (other.isPresent()) {
            throw new ProbeException(other.get());
        }
        TargetFile file = subject.file().orElseThrow();
        FileStatus now = FileCalls.stat(subject.path());
        FileStatus then = file.status();
        boolean same =
                now.inode() == then.inode()
                        && now.device() == then.device()
                        && now.sizeBytes() == then.sizeBytes();
        if (!same) {
            throw new ProbeException(
                    subject.path() + " was replaced while it was being read; try again");
        }
        byte[] before = subject.elf().flatMap(ElfFile::buildId).orElse(new byte[0]);
        try (TargetFile again = TargetFile.openTrusted(file.link(), ProbedObject.MOST_BYTES)) {
            byte[] after = ElfFile.of(again).buildId().orElse(new byte[0]);
            if (!Arrays.equals(before, after)) {
                throw new ProbeException(
                        subject.path() + " was overwritten while it was being read; try again");
            }
        }
        return isOursAlone(Path.of(subject.path())) ? "" : file.link();
    }

    /** Whether only root and this user can change what a path names. */
    private static boolean isOursAlone(Path path) throws SyscallException {
        int self = ProcessCalls.geteuid();
        for (Path at = path; at != null; at = at.getParent()) {
            FileStatus status = FileCalls.stat(at.toString());
            boolean owned = status.uid() == 0 || status.uid() == self;
            boolean shared = (status.mode() & 022) != 0 && (status.mode() & 01000) == 0;
            if (!owned || shared) {
                return false;
            }
        }
        return true;
    }

    /** The definition with a path through our open file. */
    static ProbeDefinition through(ProbeDefinition one, ProbedObject subject, String link) {
        String place = one.place();
        return place.startsWith(subject.path())
                ? one.at(link + place.substring(subject.path().length()))
                : one;
    }
}
