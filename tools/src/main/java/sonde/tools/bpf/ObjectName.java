package sonde.tools.bpf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.PinNames;
import sonde.bpf.Program;
import sonde.sys.Errno;
import sonde.sys.SyscallException;
import sonde.tools.report.NothingMatchesException;

/**
 * An object as bpftool's commands name it.
 *
 * @param kind {@code "id"}, {@code "name"}, {@code "tag"} or {@code "pinned"}
 */
public record ObjectName(String kind, String value) {
    private static final List<String> KINDS = List.of("id", "name", "tag", "pinned");

    /** The first two words. */
    public static ObjectName of(List<String> words) {
        if (words.size() < 2 || !KINDS.contains(words.getFirst())) {
            throw new BpfUseException("say which: id NUMBER, name NAME, or pinned PATH");
        }
        ObjectName target = new ObjectName(words.getFirst(), words.get(1));
        if (target.kind.equals("id") && !target.value.matches("[0-9]{1,9}")) {
            throw new BpfUseException("'" + target.value + "' is not a number");
        }
        return target;
    }

    /**
     * Pins an object.
     *
     * @param words the two that name it, then the path
     */
    public static void pin(List<String> words, int fd) throws IOException {
        if (words.size() != 3) {
            throw new BpfUseException("say where: pin id 5 /sys/fs/bpf/NAME");
        }
        PinNames.pin(fd, words.get(2));
    }

    private NothingMatchesException nothing(String what) {
        return new NothingMatchesException("there is no " + what + " with " + kind + " " + value);
    }

    private int id() {
        return Integer.parseInt(value);
    }

    private interface ObjectOpener<T> {
        T open() throws IOException;
    }

    /** Opens what may be gone. */
    private <T> T orNothing(String what, ObjectOpener<T> opener) throws IOException {
        try {
            return opener.open();
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                throw nothing(what);
            }
            throw e;
        }
    }

    /** The programs meant; by name or tag several may be. */
    public List<Program> programs() throws IOException {
        switch (kind) {
            case "id" -> {
                return List.of(orNothing("program", () -> Program.openId(id())));
            }
            case "pinned" -> {
                return List.of(orNothing("program", () -> Program.openPinned(value)));
            }
            default -> {
                List<Program> found = new ArrayList<>();
                for (int id : Program.ids()) {
                    Program program = Program.openId(id);
                    boolean meant =
                            kind.equals("name")
                                    ? program.name().equals(value)
                                    : program.facts().tag().equals(value);
                    if (meant) {
                        found.add(program);
                    } else {
                        program.close();
                    }
                }
                if (found.isEmpty()) {
                    throw nothing("program");
                }
                return found;
            }
        }
    }

    /** The map meant; by name there must be one only. */
    public BpfMap map() throws IOException {
        switch (kind) {
            case "id" -> {
                return orNothing("map", () -> BpfMap.openId(id()));
            }
            case "pinned" -> {
                return orNothing("map", () -> BpfMap.openPinned(value));
            }
            case "name" -> {
                List<Integer> found = new ArrayList<>();
                for (int id : BpfMap.ids()) {
                    try (BpfMap map = BpfMap.openId(id)) {
                        if (map.spec().name().equals(value)) {
                            found.add(id);
                        }
                    } catch (SyscallException e) {
                        if (e.errno() != Errno.ENOENT && e.errno() != Errno.EINVAL) {
                            throw e;
                        }
                    }
                }
                if (found.size() > 1) {
                    throw new BpfUseException("several maps have that name: id " + found);
                }
                if (found.isEmpty()) {
                    throw nothing("map");
                }
                return BpfMap.openId(found.getFirst());
            }
            default -> throw new BpfUseException("maps have no tag");
        }
    }

    /** The link meant. */
    public Link link() throws IOException {
        return switch (kind) {
            case "id" -> orNothing("link", () -> Link.openId(id()));
            case "pinned" -> orNothing("link", () -> Link.openPinned(value));
            default -> throw new BpfUseException("links have an id or a pinned path");
        };
    }
}
