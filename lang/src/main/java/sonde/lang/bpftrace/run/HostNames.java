package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.lower.Action;
import sonde.lang.output.Names;
import sonde.lang.output.TimeFormat;
import sonde.lang.type.Type;
import sonde.symbol.KernelSymbols;
import sonde.symbol.Mapping;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.Symbolizer;
import sonde.sys.Clocks;
import sonde.sys.SyscallException;

/** What this machine calls the numbers of a script's values. */
final class HostNames implements Names {
    private static final int MOST_MAPS = 16 << 20;
    private static final int MOST_SYMBOLS = 256 << 20;
    private static final int MOST_USERS = 4 << 20;
    private static final Path CGROUPS = Path.of("/sys/fs/cgroup");
    private static final int MOST_DEPTH = 16;

    private final List<Action> actions;
    private final String trailer;
    private final ProcessMaps processes = new ProcessMaps();
    private final Map<Integer, Boolean> known = new HashMap<>();
    private final Map<Long, String> groups = new HashMap<>();
    private final long epochOffset;
    private @Nullable KernelSymbols kernel;
    private @Nullable Symbolizer symbolizer;
    private @Nullable Map<Long, String> users;

    HostNames(List<Action> actions, String trailer) {
        this.actions = actions;
        this.trailer = trailer;
        this.epochOffset =
                Clocks.nanos(Clocks.CLOCK_REALTIME) - Clocks.nanos(Clocks.CLOCK_BOOTTIME);
    }

    private KernelSymbols kernel() {
        KernelSymbols table = kernel;
        if (table == null) {
            try {
                table =
                        KernelSymbols.parse(
                                sonde.sys.Files.readAll("/proc/kallsyms", MOST_SYMBOLS));
            } catch (SyscallException e) {
                table = KernelSymbols.none();
            }
            kernel = table;
        }
        return table;
    }

    private Symbolizer symbolizer() {
        Symbolizer made = symbolizer;
        if (made == null) {
            made = new Symbolizer(processes, KernelSymbols.none(), SymbolOptions.here());
            symbolizer = made;
        }
        return made;
    }

    /** Reads where files lie in a process, once; a process that has ended stays as it was read. */
    void remember(int pid) {
        if (known.putIfAbsent(pid, true) != null) {
            return;
        }
        try {
            String text =
                    new String(
                            sonde.sys.Files.readAll("/proc/" + pid + "/maps", MOST_MAPS),
                            StandardCharsets.ISO_8859_1);
            text.lines().forEach(line -> mapped(pid, line));
            byte[] jit = sonde.sys.Files.readAll("/tmp/perf-" + pid + ".map", MOST_SYMBOLS);
            symbolizer().addPerfMap(pid, 0, jit);
        } catch (SyscallException e) {
            // It has ended, or has no code of its own making.
        }
    }

    private void mapped(int pid, String line) {
        String[] words = line.split(" +", 6);
        if (words.length < 5 || words[1].indexOf('x') < 0) {
            return;
        }
        int dash = words[0].indexOf('-');
        long start = Long.parseUnsignedLong(words[0], 0, dash, 16);
        long end = Long.parseUnsignedLong(words[0], dash + 1, words[0].length(), 16);
        long offset = Long.parseUnsignedLong(words[2], 16);
        String path = words.length > 5 ? words[5] : "";
        processes.mapped(0, pid, new Mapping(start, end - start, offset, path));
    }

    @Override
    public String kernelSymbol(long address) {
        int index = kernel().find(address);
        return index < 0 ? "0x" + Long.toHexString(address) : kernel().name(index);
    }

    @Override
    public String userSymbol(long address, int pid) {
        String name = userName(address, pid);
        return name == null ? "0x" + Long.toHexString(address) : name;
    }

    private @Nullable String userName(long address, int pid) {
        remember(pid);
        if (!processes.isCode(pid, address)) {
            return null;
        }
        long location = processes.location(pid, address);
        if (symbolizer().offsetInFunction(location) < 0) {
            return null;
        }
        return symbolizer().frame(location).name();
    }

    @Override
    public List<String> kernelStack(long[] addresses, Type.StackMode mode) {
        List<String> lines = new ArrayList<>();
        for (long address : addresses) {
            int index = kernel().find(address);
            String name =
                    index < 0
                            ? "0x" + Long.toHexString(address)
                            : kernel().name(index) + "+" + (address - kernel().address(index));
            String module = index < 0 ? "" : kernel().module(index);
            lines.add(
                    mode == Type.StackMode.PERF
                            ? Long.toHexString(address)
                                    + " "
                                    + name
                                    + (module.isEmpty() ? "" : " ([" + module + "])")
                            : name);
        }
        return lines;
    }

    @Override
    public List<String> userStack(long[] addresses, int pid, Type.StackMode mode) {
        List<String> lines = new ArrayList<>();
        for (long address : addresses) {
            String name = userName(address, pid);
            long offset =
                    name == null
                            ? -1
                            : symbolizer().offsetInFunction(processes.location(pid, address));
            String text = name == null ? "0x" + Long.toHexString(address) : name + "+" + offset;
            if (mode == Type.StackMode.PERF) {
                String file = name == null ? "[unknown]" : file(pid, address);
                lines.add(
                        Long.toHexString(address)
                                + " "
                                + (name == null ? "[unknown]" : text)
                                + " ("
                                + file
                                + ")");
            } else {
                lines.add(text);
            }
        }
        return lines;
    }

    private String file(int pid, long address) {
        return symbolizer().frame(processes.location(pid, address)).module();
    }

    private String pattern(long number) {
        return number >= 0
                        && number < actions.size()
                        && actions.get((int) number) instanceof Action.Pattern p
                ? p.text()
                : "";
    }

    @Override
    public String cgroupPath(long pattern, long id) {
        String name =
                groups.computeIfAbsent(
                        id,
                        wanted -> {
                            String found = group(CGROUPS, wanted, 0);
                            return found == null ? "" : found;
                        });
        return "unified:" + (name.isEmpty() ? "/" : name);
    }

    private static @Nullable String group(Path folder, long id, int depth) {
        try {
            if (Files.getAttribute(folder, "unix:ino", LinkOption.NOFOLLOW_LINKS) instanceof Long n
                    && n == id) {
                return "/" + CGROUPS.relativize(folder);
            }
            if (depth < MOST_DEPTH) {
                try (DirectoryStream<Path> below = Files.newDirectoryStream(folder)) {
                    for (Path path : below) {
                        String found =
                                Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
                                        ? group(path, id, depth + 1)
                                        : null;
                        if (found != null) {
                            return found;
                        }
                    }
                }
            }
        } catch (IOException e) {
            return null;
        }
        return null;
    }

    @Override
    public String userName(long uid) {
        Map<Long, String> table = users;
        if (table == null) {
            table = new HashMap<>();
            try {
                String text =
                        new String(
                                sonde.sys.Files.readAll("/etc/passwd", MOST_USERS),
                                StandardCharsets.UTF_8);
                for (String line : text.lines().toList()) {
                    String[] words = line.split(":", 4);
                    if (words.length > 3 && words[2].matches("[0-9]{1,10}")) {
                        table.putIfAbsent(Long.valueOf(words[2]), words[0]);
                    }
                }
            } catch (SyscallException e) {
                // Numbers, then.
            }
            users = table;
        }
        return table.getOrDefault(uid, "");
    }

    @Override
    public String timestamp(int format, int clock, long nanos) {
        long epoch =
                switch (clock) {
                    case 2 -> nanos;
                    default -> nanos + epochOffset;
                };
        return TimeFormat.format(pattern(format), epoch, zone());
    }

    @Override
    public String truncated() {
        return trailer;
    }

    @Override
    public ZoneId zone() {
        return ZoneId.systemDefault();
    }
}
