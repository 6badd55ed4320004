package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.event.result.Frame;

/** Folded stacks: caller to callee with semicolons, a blank, the sum of weights. */
final class FoldedWriter implements ExportWriter {
    private final Map<String, Map<String, Long>> sums = new LinkedHashMap<>();

    @Override
    public void write(ExportRows rows, OutputStream out, ExportLosses losses) throws IOException {
        Map<Integer, String> names = new HashMap<>(rows.comms());
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            if (row.is("perf_record", "comm")) {
                names.put(row.tid(), row.text("comm"));
            }
            if (row.batch.stackDepth(row.row) == 0) {
                losses.add(row.type.qualifiedName() + " (no stack)");
                continue;
            }
            List<String> frames = new ArrayList<>();
            for (Frame frame : row.frames()) {
                String kernel = frame.kind() == Frame.Kind.KERNEL ? "_[k]" : "";
                frames.addFirst(plain(frame.name()) + kernel);
            }
            String thread = names.get(row.tid());
            if (thread != null) {
                frames.addFirst(plain(thread));
            }
            sums.computeIfAbsent(row.type.qualifiedName(), ignored -> new LinkedHashMap<>())
                    .merge(String.join(";", frames), row.batch.weight(row.row), Long::sum);
        }
        String counted = counted();
        for (Map.Entry<String, Map<String, Long>> type : sums.entrySet()) {
            for (Map.Entry<String, Long> line : type.getValue().entrySet()) {
                if (type.getKey().equals(counted)) {
                    String text = line.getKey() + " " + line.getValue() + "\n";
                    out.write(text.getBytes(StandardCharsets.UTF_8));
                } else {
                    losses.add(type.getKey() + " (stacks beside those of " + counted + ")");
                }
            }
        }
    }

    private static String plain(String name) {
        return name.replace(';', ':').replace('\n', ' ');
    }

    /** Weights of different events do not add up: one event is written. */
    private String counted() {
        String best = "";
        int rank = -1;
        for (String type : sums.keySet()) {
            int one =
                    type.startsWith("profile:") || type.equals("jdk:ExecutionSample")
                            ? 3
                            : type.startsWith("perf:c") ? 2 : type.startsWith("perf:") ? 1 : 0;
            if (one > rank) {
                rank = one;
                best = type;
            }
        }
        return best;
    }
}
