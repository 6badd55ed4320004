package sonde.tools.report;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.event.result.Frame;
import sonde.event.result.Table;
import sonde.event.result.Unit;

/**
 * Functions by the samples in themselves. Places of a module without symbols are one row, named by
 * the first and last of them: each address by itself says nothing.
 */
final class HotFunctions {
    private static final String OFFSET = "+0x";

    private final Map<Frame, Hot> rows = new HashMap<>();
    private long total;

    /** A function, or the nameless code of a module. */
    private static final class Hot {
        final Frame frame;
        long samples;
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;

        Hot(Frame frame) {
            this.frame = frame;
        }

        void at(long offset) {
            first = Math.min(first, offset);
            last = Math.max(last, offset);
        }

        String name() {
            String name = frame.name();
            if (first >= last) {
                return name;
            }
            String module = name.substring(0, name.lastIndexOf(OFFSET));
            return module + OFFSET + Long.toHexString(first) + "…0x" + Long.toHexString(last) + "]";
        }
    }

    HotFunctions(Findings found) {
        found.samples.forEach((thread, node, weight, count) -> {
            if (found.shown(thread) && node >= 0) {
                // A row of a profile stands for as many samples as it weighs.
                add(found.trees.frame(node), found.isProfile() ? weight : count);
            }
        });
    }

    private void add(Frame frame, long count) {
        total += count;
        String name = frame.name();
        int plus = name.startsWith("[") && name.endsWith("]") ? name.lastIndexOf(OFFSET) : -1;
        if (plus < 0) {
            rows.computeIfAbsent(frame, Hot::new).samples += count;
            return;
        }
        Frame place = new Frame("", frame.module(), frame.kind());
        Hot hot = rows.computeIfAbsent(place, ignored -> new Hot(frame));
        hot.samples += count;
        String digits = name.substring(plus + OFFSET.length(), name.length() - 1);
        try {
            hot.at(Long.parseUnsignedLong(digits, 16));
        } catch (NumberFormatException e) {
            return; // a function of that name, not a place
        }
    }

    Table table(int limit) {
        List<Hot> sorted = new ArrayList<>(rows.values());
        sorted.sort((one, other) -> {
            int order = Long.compare(other.samples, one.samples);
            return order != 0 ? order : one.frame.name().compareTo(other.frame.name());
        });
        Rows result =
                new Rows("on CPU")
                        .column("function", Unit.TEXT)
                        .column("module", Unit.TEXT)
                        .column("share", Unit.SHARE)
                        .column("samples", Unit.COUNT);
        for (Hot hot : sorted.subList(0, Math.min(limit, sorted.size()))) {
            result.add(hot.name(), hot.frame.module(), (double) hot.samples / total, hot.samples);
        }
        return result.table();
    }
}
