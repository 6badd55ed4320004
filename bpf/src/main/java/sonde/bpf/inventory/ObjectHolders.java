package sonde.bpf.inventory;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.call.KernelObject;
import sonde.sys.Fd;
import sonde.sys.SyscallException;

/**
 * Who keeps programs, maps and links alive, as far as this user may see: processes with a
 * descriptor of them ({@code /proc/PID/fdinfo}) and names in the bpffs that are mounted here.
 * Programs and maps are also kept by links and programs, which their facts tell.
 */
public final class ObjectHolders {
    private static final int MOST_PINS = 100_000;
    private static final int MOST_DEPTH = 16;
    private static final int MOST_BYTES = 8192;

    /** Kinds of objects. */
    public enum Kind {
        PROGRAM("bpf-prog", "prog_id:"),
        MAP("bpf-map", "map_id:"),
        LINK("bpf-link", "link_id:"),
        /** Types; they cannot be pinned. */
        BTF("btf", "btf_id:");

        private final String inode;
        private final String key;

        Kind(String inode, String key) {
            this.inode = inode;
            this.key = key;
        }
    }

    /** A process with a descriptor. */
    public record Holder(int pid, String comm) implements Comparable<Holder> {
        @Override
        public int compareTo(Holder other) {
            return Integer.compare(pid, other.pid);
        }

        @Override
        public String toString() {
            return comm + "(" + pid + ")";
        }
    }

    private record Key(Kind kind, int id) {}

    private final Map<Key, Set<Holder>> processes = new HashMap<>();
    private final Map<Key, List<String>> pins = new HashMap<>();

    private ObjectHolders() {}

    /** Looks at all processes and mounts, now. */
    public static ObjectHolders now() {
        ObjectHolders holders = new ObjectHolders();
        try (DirectoryStream<Path> list = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : list) {
                holders.process(process);
            }
        } catch (IOException e) {
            // Without /proc nobody is known to hold anything.
        }
        for (Path mount : mounts()) {
            holders.walk(mount);
        }
        return holders;
    }

    private void process(Path process) {
        try (DirectoryStream<Path> fds = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path fd : fds) {
                descriptor(process, fd);
            }
        } catch (IOException e) {
            // It has ended, or is another user's.
        }
    }

    private void descriptor(Path process, Path fd) {
        try {
            String target = Files.readSymbolicLink(fd).toString().replace('_', '-');
            for (Kind kind : Kind.values()) {
                String inode = target.replaceAll("[\\[\\]]", "");
                if (inode.equals("anon-inode:" + kind.inode)) {
                    Path facts = process.resolve("fdinfo").resolve(fd.getFileName());
                    int id = id(facts, kind.key);
                    int pid = Integer.parseInt(process.getFileName().toString());
                    processes
                            .computeIfAbsent(new Key(kind, id), key -> new TreeSet<>())
                            .add(new Holder(pid, comm(process)));
                }
            }
        } catch (IOException | NumberFormatException e) {
            // Closed meanwhile.
        }
    }

    private static int id(Path facts, String key) throws IOException {
        for (String line : small(facts).lines().toList()) {
            if (line.startsWith(key)) {
                return Integer.parseInt(line.substring(key.length()).strip());
            }
        }
        throw new IOException("no " + key);
    }

    private static String comm(Path process) throws IOException {
        return small(process.resolve("comm")).strip();
    }

    private static String small(Path path) throws IOException {
        try (var in = Files.newInputStream(path)) {
            return new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8);
        }
    }

    /** Where a bpffs is mounted; blanks are written {@code \040}. */
    private static List<Path> mounts() {
        List<Path> found = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/mounts"))) {
                String[] words = line.split(" ");
                if (words.length > 2 && words[2].equals("bpf")) {
                    found.add(Path.of(words[1].replace("\\040", " ")));
                }
            }
        } catch (IOException e) {
            return found;
        }
        return found;
    }

    private void walk(Path mount) {
        int[] left = {MOST_PINS};
        try {
            Files.walkFileTree(
                    mount,
                    EnumSet.noneOf(java.nio.file.FileVisitOption.class),
                    MOST_DEPTH,
                    new SimpleFileVisitor<>() {
                        @Override
                        public FileVisitResult visitFile(Path file, BasicFileAttributes attrs) {
                            pinned(file.toString());
                            return left[0]-- > 0
                                    ? FileVisitResult.CONTINUE
                                    : FileVisitResult.TERMINATE;
                        }

                        @Override
                        public FileVisitResult visitFileFailed(Path file, IOException e) {
                            return FileVisitResult.CONTINUE;
                        }
                    });
        } catch (IOException e) {
            // What was seen until here counts.
        }
    }

    private void pinned(String path) {
        try {
            int fd = KernelObject.openPinned(path);
            String inode = KernelObject.kind(fd);
            Fd.discard(fd);
            for (Kind kind : Kind.values()) {
                if (inode.equals(kind.inode)) {
                    pins.computeIfAbsent(new Key(kind, id(kind, path)), key -> new ArrayList<>())
                            .add(path);
                }
            }
        } catch (SyscallException e) {
            // An iterator, or removed meanwhile.
        }
    }

    private static int id(Kind kind, String path) throws SyscallException {
        return switch (kind) {
            case PROGRAM -> {
                try (Program program = Program.openPinned(path)) {
                    yield program.facts().id();
                }
            }
            case MAP -> {
                try (BpfMap map = BpfMap.openPinned(path)) {
                    yield map.facts().id();
                }
            }
            case BTF -> throw new SyscallException("bpf", path, sonde.sys.Errno.EINVAL);
            case LINK -> {
                try (Link link = Link.openPinned(path)) {
                    yield link.facts().id();
                }
            }
        };
    }

    /** Processes with a descriptor of an object, by pid. */
    public List<Holder> processes(Kind kind, int id) {
        return List.copyOf(processes.getOrDefault(new Key(kind, id), Set.of()));
    }

    /** Names of an object in a bpffs. */
    public List<String> pins(Kind kind, int id) {
        return List.copyOf(pins.getOrDefault(new Key(kind, id), List.of()));
    }
}
