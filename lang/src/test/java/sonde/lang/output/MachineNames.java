package sonde.lang.output;

import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import sonde.lang.type.ValueType;

/** Names that tell what they were asked. */
final class MachineNames implements ValueNames {
    private final List<String> functions;

    /** Of a kernel whose first addresses have these names. */
    MachineNames(String... functions) {
        this.functions = List.of(functions);
    }

    @Override
    public String kernelSymbol(long address) {
        return address >= 0 && address < functions.size()
                ? functions.get((int) address)
                : "k" + address;
    }

    @Override
    public String userSymbol(long address, int pid) {
        return "u" + address + "@" + pid;
    }

    @Override
    public List<String> kernelStack(long[] addresses, ValueType.StackMode mode) {
        List<String> lines = new ArrayList<>();
        for (long address : addresses) {
            String symbol = "f" + address + "+1";
            boolean perf = mode == ValueType.StackMode.PERF;
            lines.add(perf ? Long.toHexString(address) + " " + symbol : symbol);
        }
        return lines;
    }

    @Override
    public List<String> userStack(long[] addresses, int pid, ValueType.StackMode mode) {
        return kernelStack(addresses, mode).stream().map(line -> line + "@" + pid).toList();
    }

    @Override
    public long[] unwind(byte[] bytes, int at, int frames) {
        return new long[] {at, frames};
    }

    @Override
    public String cgroupPath(long pattern, long id) {
        return "unified:/" + pattern + "/" + id;
    }

    @Override
    public String userName(long uid) {
        return uid == 0 ? "root" : "\033[2J";
    }

    @Override
    public String timestamp(int format, int clock, long nanos) {
        return "t" + format + "," + clock + "," + nanos;
    }

    @Override
    public String moment(int clock, long nanos) {
        return "m" + clock + "," + nanos;
    }

    @Override
    public ZoneId zone() {
        return ZoneOffset.UTC;
    }
}
