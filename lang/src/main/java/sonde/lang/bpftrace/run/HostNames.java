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
import sonde.lang.bpftrace.lower.EventAction;
import sonde.lang.bpftrace.lower.EventAction.PatternAction;
import sonde.lang.bpftrace.run.UserCode.UserCodeFunction;
import sonde.lang.output.StrftimeFormat;
import sonde.lang.output.ValueNames;
import sonde.lang.type.ValueType;
import sonde.symbol.line.CodePlaces.FoundCode;
import sonde.sys.Clocks;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/** What this machine calls the numbers of a script's values. */
final class HostNames implements ValueNames {
    private static final int MOST_USERS = 4 << 20;

    private final List<EventAction> actions;
    private final String trailer;
    private final UserCode code;
    private final ControlGroups groups = new ControlGroups();
    private final long epochOffset;
    private @Nullable Map<Long, String> users;

    HostNames(List<EventAction> actions, String trailer, UserCode code) {
        this.actions = actions;
        this.trailer = trailer;
        this.code = code;
        this.epochOffset =
                Clocks.nanos(Clocks.CLOCK_REALTIME) - Clocks.nanos(Clocks.CLOCK_BOOTTIME);
    }

    private static String hex(long address) {
        return "0x" + Long.toHexString(address);
    }

    @Override
    public String kernelSymbol(long address) {
        UserCodeFunction place = code.kernel(address);
        return place == null ? hex(address) : place.name();
    }

    @Override
    public String userSymbol(long address, int pid) {
        UserCodeFunction place = code.find(pid, address, false);
        return place == null ? hex(address) : place.name();
    }

    @Override
    public List<String> kernelStack(long[] addresses, ValueType.StackMode mode) {
        List<String> lines = new ArrayList<>();
        List<UserCode.@Nullable UserCodeFunction> places = code.kernelStack(addresses);
        for (int i = 0; i < addresses.length; i++) {
            UserCodeFunction place = places.get(i);
            if (place != null) {
                String module = place.file();
                String shown = module.startsWith("[") ? module : "[" + module + "]";
                add(lines, addresses[i], place, shown, mode);
            } else if (mode == ValueType.StackMode.PERF) {
                lines.add(Long.toHexString(addresses[i]) + " " + hex(addresses[i]));
            } else {
                lines.add(hex(addresses[i]));
            }
        }
        return lines;
    }

    @Override
    public List<String> userStack(long[] addresses, int pid, ValueType.StackMode mode) {
        List<String> lines = new ArrayList<>();
        List<UserCode.@Nullable UserCodeFunction> places = code.stack(pid, addresses);
        for (int i = 0; i < addresses.length; i++) {
            UserCodeFunction place = places.get(i);
            if (place != null) {
                add(lines, addresses[i], place, place.file(), mode);
            } else if (mode == ValueType.StackMode.PERF) {
                String address = Long.toHexString(addresses[i]);
                lines.add(address + " 0x" + address + " ([unknown])");
            } else {
                lines.add(hex(addresses[i]));
            }
        }
        return lines;
    }

    /** A frame, before it what was inlined there. */
    private static void add(
            List<String> lines,
            long address,
            UserCodeFunction place,
            String file,
            ValueType.StackMode mode) {
        boolean perf = mode == ValueType.StackMode.PERF;
        String front = perf ? Long.toHexString(address) + " " : "";
        FoundCode source = place.source();
        for (Frame call : source.inlined()) {
            lines.add(
                    perf
                            ? front + call.name() + " (inlined)"
                            : "[inlined] " + call.name() + line(call.file(), call.line()));
        }
        String function = place.offset() < 0 ? place.name() : place.name() + "+" + place.offset();
        lines.add(
                perf
                        ? front + function + " (" + file + ")"
                        : function + line(source.file(), source.line()));
    }

    private static String line(String file, int line) {
        return file.isEmpty() ? "" : "@" + file + ":" + line;
    }

    private String pattern(long number) {
        return number >= 0
                        && number < actions.size()
                        && actions.get((int) number) instanceof PatternAction p
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
                                FileCalls.readAll("/etc/passwd", MOST_USERS),
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
        return StrftimeFormat.format(pattern(format), epoch(clock, nanos), zone());
    }

    @Override
    public String moment(int clock, long nanos) {
        return StrftimeFormat.format("%Y-%m-%dT%H:%M:%S.%f%z", epoch(clock, nanos), zone());
    }

    private long epoch(int clock, long nanos) {
        return clock == 2 ? nanos : nanos + epochOffset;
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
