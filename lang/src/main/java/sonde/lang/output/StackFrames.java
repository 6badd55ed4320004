package sonde.lang.output;

import java.util.Arrays;
import java.util.List;
import sonde.lang.type.ValueType.StackMode;
import sonde.lang.type.ValueType.StackType;

/** Call stacks: a line end, then a line for each frame. */
final class StackFrames {
    private static final String INDENT = "        ";

    /** What the unwinder leaves where it lost its way. */
    private static final long UNWIND_FAILURE = -1;

    /**
     * struct bpf_stack_build_id (include/uapi/linux/bpf.h): status, build id, offset or address.
     */
    private static final int BUILD_ID_BYTES = 32;

    private static final int STATUS_EMPTY = 0;
    private static final int STATUS_VALID = 1;

    private StackFrames() {}

    /**
     * Writes a stack.
     *
     * @param dense without indentation
     */
    static void write(
            StackType type, byte[] bytes, int at, ValueNames names, boolean dense, TextSink out) {
        String indent = dense ? "" : INDENT;
        out.put('\n');
        if (!type.copied() && type.mode() == StackMode.BUILD_ID) {
            buildIds(type, bytes, at + (type.user() ? 8 : 0), out);
            return;
        }
        long[] addresses = addresses(type, bytes, at, names);
        lines(type, ValueBytes.s32(bytes, at), addresses, names, indent, out);
        if (!type.copied() && count(type, bytes, at) > addresses.length) {
            out.put(indent);
            out.put("<unwind failure>\n");
        }
    }

    /** The functions of a stack without offsets, innermost first. */
    static List<String> functions(StackType type, byte[] bytes, int at, ValueNames names) {
        int pid = ValueBytes.s32(bytes, at);
        long[] addresses = addresses(type, bytes, at, names);
        return Arrays.stream(type.user() ? addresses : names.kernelPart(addresses))
                .mapToObj(address ->
                        type.user() ? names.userSymbol(address, pid) : names.kernelSymbol(address))
                .toList();
    }

    /** The addresses of a stack, innermost first, up to where the unwinder lost its way. */
    static long[] addresses(StackType type, byte[] bytes, int at, ValueNames names) {
        if (type.copied()) {
            return names.unwind(bytes, at, type.frames());
        }
        int first = at + (type.user() ? 8 : 0);
        long[] addresses = new long[count(type, bytes, at)];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = ValueBytes.u64(bytes, first + 8 * i);
            if (addresses[i] == UNWIND_FAILURE) {
                return Arrays.copyOf(addresses, i);
            }
        }
        return addresses;
    }

    private static int count(StackType type, byte[] bytes, int at) {
        int first = at + (type.user() ? 8 : 0);
        int count = 0;
        while (count < type.frames() && ValueBytes.u64(bytes, first + 8 * count) != 0) {
            count++;
        }
        return count;
    }

    private static void lines(
            StackType type,
            int pid,
            long[] addresses,
            ValueNames names,
            String indent,
            TextSink out) {
        if (type.mode() == StackMode.RAW) {
            for (long address : addresses) {
                out.hex(address, false);
                out.put('\n');
            }
            return;
        }
        List<String> lines =
                type.user()
                        ? names.userStack(addresses, pid, type.mode())
                        : names.kernelStack(addresses, type.mode());
        for (String line : lines) {
            out.put(type.mode() == StackMode.PERF ? "\t" : indent);
            out.foreign(line);
            out.put('\n');
        }
    }

    private static void buildIds(StackType type, byte[] bytes, int first, TextSink out) {
        for (int i = 0; i < type.frames(); i++) {
            int at = first + i * BUILD_ID_BYTES;
            int status = ValueBytes.s32(bytes, at);
            if (status == STATUS_EMPTY) {
                return;
            }
            long place = ValueBytes.u64(bytes, at + 24);
            if (status == STATUS_VALID) {
                for (int j = 0; j < 20; j++) {
                    out.hexByte((int) ValueBytes.integer(bytes, at + 4 + j, 1, false));
                }
                out.put(place < 16 && place >= 0 ? " 0x0" : " 0x");
            }
            out.hex(place, false);
            out.put('\n');
        }
    }
}
