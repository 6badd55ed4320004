package sonde.recording.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import sonde.event.FrameNames;
import sonde.event.result.Frame;

/** The frames of a text's call chains; an entry of a chain is a frame's number plus 1. */
final class TextFrames implements FrameNames {
    /** More distinct frames have one name. */
    private static final int MOST = 1 << 20;

    private static final int MOST_NAME_BYTES = 4096;
    private static final byte[] UNKNOWN = KeyValueTokens.bytes("[unknown]");

    private final ByteTable table = new ByteTable(MOST);
    private final byte[] key = scratch();

    /** Whether there is any. */
    boolean isEmpty() {
        return table.size() == 0;
    }

    /** The entry for a function of a module; either may be empty. */
    long add(byte[] bytes, int from, int to, int moduleFrom, int moduleTo) {
        int length = fill(key, bytes, from, to, moduleFrom, moduleTo);
        return entry(table.add(key, 0, length));
    }

    /** As {@link #add}, for a frame that was added before; adds none. */
    long find(byte[] bytes, int from, int to, int moduleFrom, int moduleTo, byte[] scratch) {
        int length = fill(scratch, bytes, from, to, moduleFrom, moduleTo);
        return entry(table.find(scratch, 0, length));
    }

    private static long entry(int index) {
        return index < 0 ? MOST + 1L : index + 1L;
    }

    /** An array that is large enough for {@link #find}. */
    static byte[] scratch() {
        return new byte[2 * MOST_NAME_BYTES + 1];
    }

    private static int fill(byte[] out, byte[] bytes, int from, int to, int moduleFrom, int end) {
        int name = Math.min(to - from, MOST_NAME_BYTES);
        int module = Math.min(end - moduleFrom, MOST_NAME_BYTES);
        System.arraycopy(bytes, from, out, 0, name);
        out[name] = '\n';
        System.arraycopy(bytes, moduleFrom, out, name + 1, module);
        return name + 1 + module;
    }

    @Override
    public Frame frame(long entry) {
        if (entry <= 0 || entry > table.size()) {
            return new Frame("[unknown]", "", Frame.Kind.USER);
        }
        byte[] both = table.get((int) entry - 1);
        int end = 0;
        while (both[end] != '\n') {
            end++;
        }
        String name = new String(both, 0, end, StandardCharsets.UTF_8);
        String module = new String(both, end + 1, both.length - end - 1, StandardCharsets.UTF_8);
        boolean unknown = Arrays.equals(both, 0, end, UNKNOWN, 0, UNKNOWN.length);
        return frame(unknown ? "" : name, module.equals("[unknown]") ? "" : module);
    }

    /** A function without name is called after its module, as stackcollapse-perf does. */
    private static Frame frame(String name, String module) {
        String base = module.substring(module.lastIndexOf('/') + 1);
        String shown = name;
        if (shown.isEmpty()) {
            shown = base.isEmpty() ? "[unknown]" : base.startsWith("[") ? base : "[" + base + "]";
        }
        if (isKernel(module)) {
            boolean own = module.startsWith("[") && !module.startsWith("[kernel");
            return new Frame(shown, own ? module : "[kernel]", Frame.Kind.KERNEL);
        }
        if (base.startsWith("perf-") && base.endsWith(".map")) {
            return new Frame(shown, "[jit]", Frame.Kind.JIT);
        }
        return new Frame(shown, module, Frame.Kind.USER);
    }

    private static boolean isKernel(String module) {
        if (module.startsWith("[")) {
            return switch (module) {
                case "[vdso]", "[vsyscall]", "[heap]", "[stack]", "[unknown]", "[uprobes]" -> false;
                default -> !module.startsWith("[anon") && !module.startsWith("[jit");
            };
        }
        String base = module.substring(module.lastIndexOf('/') + 1);
        return base.startsWith("vmlinux")
                || base.endsWith(".ko")
                || base.contains(".ko.")
                || base.equals("kernel.kallsyms");
    }
}
