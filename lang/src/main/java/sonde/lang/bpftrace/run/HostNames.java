package sonde.lang.bpftrace.run;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Frame;
import sonde.lang.bpftrace.lower.Action;
import sonde.lang.output.Names;
import sonde.lang.output.TimeFormat;
import sonde.lang.type.Type;
import sonde.symbol.KernelSymbols;
import sonde.symbol.line.CodePlaces;
import sonde.sys.Clocks;
import sonde.sys.SyscallException;

/** What this machine calls the numbers of a script's values. */
final class HostNames implements Names {
    private static final int MOST_SYMBOLS = 256 << 20;
    private static final int MOST_USERS = 4 << 20;

    private final List<Action> actions;
    private final String trailer;
    private final UserCode code;
    private final ControlGroups groups = new ControlGroups();
    private final long epochOffset;
    private @Nullable KernelSymbols kernel;
    private @Nullable Map<Long, String> users;

    HostNames(List<Action> actions, String trailer, UserCode code) {
        this.actions = actions;
        this.trailer = trailer;
        this.code = code;
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

    private static String hex(long address) {
        return "0x" + Long.toHexString(address);
    }

    /** A function of the kernel; the file is its module, empty for the kernel itself. */
    private UserCode.@Nullable Place kernelPlace(long address) {
        UserCode.Place newer = code.kernel(address);
        if (newer != null) {
            return newer;
        }
        int index = kernel().find(address);
        return index < 0
                ? null
                : new UserCode.Place(
                        kernel().name(index),
                        address - kernel().address(index),
                        kernel().module(index));
    }

    @Override
    public String kernelSymbol(long address) {
        UserCode.Place place = kernelPlace(address);
        return place == null ? hex(address) : place.name();
    }

    @Override
    public String userSymbol(long address, int pid) {
        UserCode.Place place = code.find(pid, address, false);
        return place == null ? hex(address) : place.name();
    }

    @Override
    public List<String> kernelStack(long[] addresses, Type.StackMode mode) {
        List<String> lines = new ArrayList<>();
        for (long address : addresses) {
            UserCode.Place place = kernelPlace(address);
            String text = place == null ? hex(address) : place.name() + "+" + place.offset();
            if (mode == Type.StackMode.PERF) {
                String module = place == null ? "" : place.file();
                String shown = module.startsWith("[") ? module : "[" + module + "]";
                text =
                        Long.toHexString(address)
                                + " "
                                + text
                                + (module.isEmpty() ? "" : " (" + shown + ")");
            }
            lines.add(text);
        }
        return lines;
    }

    @Override
    public List<String> userStack(long[] addresses, int pid, Type.StackMode mode) {
        List<String> lines = new ArrayList<>();
        List<UserCode.@Nullable Place> places = code.stack(pid, addresses);
        boolean perf = mode == Type.StackMode.PERF;
        for (int i = 0; i < addresses.length; i++) {
            UserCode.Place place = places.get(i);
            String front = perf ? Long.toHexString(addresses[i]) + " " : "";
            if (place == null) {
                lines.add(front + hex(addresses[i]) + (perf ? " ([unknown])" : ""));
                continue;
            }
            CodePlaces.Found source = place.source();
            for (Frame call : source.inlined()) {
                lines.add(
                        perf
                                ? front + call.name() + " (inlined)"
                                : "[inlined] " + call.name() + line(call.file(), call.line()));
            }
            String function = place.name() + "+" + place.offset();
            lines.add(
                    perf
                            ? front + function + " (" + place.file() + ")"
                            : function + line(source.file(), source.line()));
        }
        return lines;
    }

    private static String line(String file, int line) {
        return file.isEmpty() ? "" : "@" + file + ":" + line;
    }

    private String pattern(long number) {
        return number >= 0
                        && number < actions.size()
                        && actions.get((int) number) instanceof Action.Pattern p
                ? p.text()
                : "";
    }

    @Override
    public long[] unwind(byte[] bytes, int at, int frames) {
        int pid = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
        return code.unwind(pid, bytes, at, frames);
    }

    @Override
    public String cgroupPath(long pattern, long id) {
        return groups.paths(id, pattern(pattern));
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
