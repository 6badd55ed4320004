package sonde.recording.text;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The head of a latency tracer's text ({@code print_trace_header} of kernel/trace/trace.c):
 *
 * <pre>
 * # latency: 3751 us, #274/274, CPU#0 | (M:desktop VP:0, KP:0, SP:0 HP:0 #P:4)
 * #    | task: bash-1507 (uid:0 nice:0 policy:0 rt_prio:0)
 * #  =&gt; started at: free_debug_processing
 * #  =&gt; ended at:   return_to_handler
 * </pre>
 */
final class LatencyHead {
    static final byte[] FIRST = KeyValueTokens.bytes("# latency: ");

    private static final Pattern LATENCY =
            Pattern.compile("# latency: (\\d{1,18}) us, #(\\d+)/(\\d+), CPU#(\\d{1,5}) .*");
    private static final Pattern TASK =
            Pattern.compile(
                    "#\\s+\\| task: (.*)-(\\d{1,9}) \\(uid:(\\d+) nice:(-?\\d+) policy:(\\d+)"
                            + " rt_prio:(\\d+)\\)");
    private static final Pattern EDGE = Pattern.compile("#\\s+=> (started|ended) at:\\s+(.*)");
    private static final String[] POLICIES = {
        "SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH", "", "SCHED_IDLE", "SCHED_DEADLINE"
    };
    private static final int MOST_LINES = 12;

    int cpu;

    /** The fields of the head, as {@code key=value}. */
    byte[] pairs = {};

    /** What it says, as a sentence. */
    String sentence = "";

    /** Reads the head that begins in the line there; false for a text without a latency. */
    boolean parse(LineWindow lines) {
        Matcher first = LATENCY.matcher(text(lines));
        if (!first.matches() || first.group(1).equals("0")) {
            return false;
        }
        cpu = Math.min(Integer.parseInt(first.group(4)), Short.MAX_VALUE);
        StringBuilder fields = new StringBuilder("latency_us=" + first.group(1));
        StringBuilder said = new StringBuilder("Latency " + first.group(1) + " us on CPU " + cpu);
        fields.append(" entries=")
                .append(first.group(2))
                .append(" written=")
                .append(first.group(3));
        for (int i = 0; i < MOST_LINES && lines.next(); i++) {
            String line = text(lines);
            Matcher task = TASK.matcher(line);
            Matcher edge = EDGE.matcher(line);
            if (task.matches()) {
                task(task, fields, said);
            } else if (edge.matches()) {
                String function = edge.group(2).strip().replaceAll("\\s.*", "");
                fields.append(' ').append(edge.group(1)).append("_at=").append(function);
                said.append(", ").append(edge.group(1)).append(" at ").append(function);
            } else if (!line.startsWith("#")) {
                lines.back();
                break;
            }
        }
        sentence = said.append('.').toString();
        pairs = fields.toString().getBytes(StandardCharsets.UTF_8);
        return true;
    }

    private static void task(Matcher task, StringBuilder fields, StringBuilder said) {
        int policy = task.group(5).length() > 1 ? POLICIES.length : task.group(5).charAt(0) - '0';
        String name = policy < POLICIES.length ? POLICIES[policy] : "";
        String comm = task.group(1).strip();
        fields.append(" task=")
                .append(comm.replace('=', '_'))
                .append(" task_pid=")
                .append(task.group(2))
                .append(" uid=")
                .append(task.group(3))
                .append(" nice=")
                .append(task.group(4))
                .append(" policy=")
                .append(name.isEmpty() ? task.group(5) : name)
                .append(" rt_prio=")
                .append(task.group(6));
        said.append(", task ").append(comm).append('-').append(task.group(2)).append(" (");
        said.append(name.isEmpty() ? "policy " + task.group(5) : name);
        said.append(" nice ").append(task.group(4)).append(" rt_prio ").append(task.group(6));
        said.append(')');
    }

    private static String text(LineWindow lines) {
        int length = Math.min(lines.to - lines.from, 1024);
        return new String(lines.bytes(), lines.from, length, StandardCharsets.UTF_8);
    }
}
