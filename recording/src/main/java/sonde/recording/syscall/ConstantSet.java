package sonde.recording.syscall;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import sonde.sys.ResourceTable;

/** Named numbers that belong together: the flags of open, the commands of fcntl. */
final class ConstantSet {
    private static final Map<String, ConstantSet> ALL = new HashMap<>();

    static {
        String resource = "constants-x86_64.txt";
        for (String line : ResourceTable.lines(ConstantSet.class.getResourceAsStream(resource))) {
            int blank = line.indexOf(' ');
            ALL.put(line.substring(0, blank), new ConstantSet(line.substring(blank + 1)));
        }
    }

    private final String text;
    private String[] names = {};
    private long[] values = {};

    private ConstantSet(String text) {
        this.text = text;
    }

    /** The set of that name. */
    static ConstantSet of(String name) {
        ConstantSet set = ALL.get(name);
        if (set == null) {
            throw new IllegalArgumentException("no constants are called " + name);
        }
        return set;
    }

    /** The number of a constant of any set: {@code "F_GETFD"}; or of several with bars between. */
    static long number(String word) {
        long all = 0;
        for (String one : word.split("\\|")) {
            all |= one(one);
        }
        return all;
    }

    private static long one(String name) {
        for (ConstantSet set : ALL.values()) {
            int at = (" " + set.text).indexOf(" " + name + "=");
            if (at >= 0) {
                int from = at + name.length() + 1;
                int end = set.text.indexOf(' ', from);
                return Long.decode(set.text.substring(from, end < 0 ? set.text.length() : end));
            }
        }
        throw new IllegalArgumentException("no constant is called " + name);
    }

    /** Sets are read when they are needed: most programs need few of them. */
    private void read() {
        if (names.length == 0) {
            String[] pairs = text.split(" ");
            long[] numbers = new long[pairs.length];
            for (int i = 0; i < pairs.length; i++) {
                int equals = pairs[i].indexOf('=');
                numbers[i] = Long.decode(pairs[i].substring(equals + 1));
                pairs[i] = pairs[i].substring(0, equals);
            }
            values = numbers;
            names = pairs;
        }
    }

    /** Appends the name of a number; whether there is one. */
    boolean appendName(CallOut out, long value, int bits) {
        read();
        for (int i = 0; i < values.length; i++) {
            if (values[i] == value || bits == 32 && (int) values[i] == (int) value) {
                out.append(names[i]);
                return true;
            }
        }
        return false;
    }

    /** The name, or the number with a remark: {@code 0x3001 /* ARCH_??? *}{@code /}. */
    void appendEnum(CallOut out, long value, int bits) {
        long shown = bits == 32 ? value & 0xffffffffL : value;
        out.named(
                shown,
                () -> {
                    if (!appendName(out, value, bits)) {
                        appendHex(out, shown);
                        out.append(" /* ").append(prefix()).append("??? */");
                    }
                });
    }

    /**
     * Names with bars between them.
     *
     * @param zero for no flags at all; empty for {@code 0}
     */
    void appendFlags(CallOut out, long value, String zero) {
        if (value == 0 && zero.isEmpty()) {
            out.append('0');
        } else {
            out.named(value, () -> flags(out, value, zero));
        }
    }

    private void flags(CallOut out, long value, String zero) {
        int start = out.length();
        long rest = appendKnown(out, value, false);
        if (rest != 0) {
            boolean alone = out.length() == start;
            out.append(alone ? "" : "|");
            appendHex(out, rest);
            out.append(alone ? " /* " + prefix() + "??? */" : "");
        } else if (out.length() == start) {
            out.append(zero);
        }
    }

    /** Appends the flags that have names, a bar before each where asked; the others come back. */
    long appendKnown(CallOut out, long value, boolean barBefore) {
        read();
        long rest = value;
        boolean bar = barBefore;
        for (int i = 0; i < values.length && rest != 0; i++) {
            if (values[i] != 0 && (rest & values[i]) == values[i]) {
                out.append(bar ? "|" : "").append(names[i]);
                rest &= ~values[i];
                bar = true;
            }
        }
        return rest;
    }

    /** What all names begin with, up to an underscore: {@code MAP_}. */
    String prefix() {
        read();
        String common = names[0];
        for (String name : names) {
            int same = Arrays.mismatch(common.toCharArray(), name.toCharArray());
            common = same < 0 ? common : common.substring(0, same);
        }
        return common.substring(0, common.indexOf('_') < 0 ? 0 : common.lastIndexOf('_') + 1);
    }

    /** {@code 0x1f}; {@code 0} for zero. */
    static void appendHex(CallOut out, long value) {
        out.append(value == 0 ? "" : "0x").append(Long.toHexString(value));
    }
}
