package sonde.open.format;

import java.nio.ByteOrder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.recording.json.JsonTree;

/** Recognises files of known tools that are not read, and says what reads them. */
final class OtherFormats {
    private static final int WINDOW = 1 << 16;
    private static final int CTF_MAGIC = 0xc1fc1fc1;
    private static final Pattern VALGRIND =
            Pattern.compile(
                    "(?m)^==(?:[\\d:.]+ )?\\d+=="
                            + " (Memcheck|Helgrind|DRD|DHAT|Cachegrind|Callgrind|Massif)\\b"
                            + "|<valgrindoutput>");
    private static final Pattern SANITIZER =
            Pattern.compile("(?m)^(?:==\\d+==\\s?(?:ERROR|WARNING)|WARNING): (\\w+Sanitizer)");
    private static final Pattern UNDEFINED =
            Pattern.compile("(?m)^\\S+:\\d+:\\d+: runtime error: ");
    private static final Pattern V8_LOG =
            Pattern.compile("^(?:v8-version|shared-library|code-creation|profiler),");

    private OtherFormats() {}

    /**
     * What the file is and what reads it, as the rest of a sentence that begins with its name;
     * empty for a file of none of these tools.
     */
    static String refusal(Input input) {
        if (isCtfStream(input)) {
            return "is one stream of a CTF trace; open its folder, which also has the file"
                    + " 'metadata'";
        }
        String head = JsonTree.head(input, WINDOW).stripLeading();
        return head.startsWith("{") ? json(head) : text(head);
    }

    /** A packet begins with this, CTF 1.8 section 5.1, in the byte order of the trace. */
    private static boolean isCtfStream(Input input) {
        try {
            int magic =
                    new FieldCursor("ctf", input.segment(), ByteOrder.nativeOrder()).s32("magic");
            return magic == CTF_MAGIC || magic == Integer.reverseBytes(CTF_MAGIC);
        } catch (MalformedInputException e) {
            return false; // shorter than that
        }
    }

    private static String text(String head) {
        Matcher valgrind = VALGRIND.matcher(head);
        if (valgrind.find()) {
            String tool = valgrind.group(1) == null ? "tools as XML" : valgrind.group(1);
            return "is the report of valgrind's "
                    + tool
                    + ": messages without times; callgrind.out and massif.out are read";
        }
        Matcher sanitizer = SANITIZER.matcher(head);
        if (sanitizer.find()) {
            return "is a report of "
                    + sanitizer.group(1)
                    + "; 'sonde symbolize --annotate' names the addresses in it";
        }
        if (UNDEFINED.matcher(head).find()) {
            return "is a report of UndefinedBehaviorSanitizer: messages that name their source"
                    + " lines";
        }
        return V8_LOG.matcher(head).find()
                ? "is V8's own log (node --prof): node --prof-process sums it up; a recording of"
                        + " node --perf-basic-prof has the names of its functions"
                : "";
    }

    private static String json(String head) {
        if (has(head, "dhatFileVersion")) {
            return "is a heap profile of valgrind's DHAT: dh_view.html, a part of valgrind, shows"
                    + " it; massif.out and heaptrack files are read";
        }
        if (has(head, "nodes") && has(head, "callFrame")) {
            return "is a CPU profile of V8 (.cpuprofile): speedscope.app opens it and exports JSON"
                    + " that is read";
        }
        if (has(head, "selfSize") && has(head, "callFrame")
                || has(head, "snapshot") && has(head, "node_fields")) {
            return "is a heap profile of V8: Chrome's DevTools open it (Memory, Load)";
        }
        boolean gecko =
                has(head, "meta") && (has(head, "libs") || has(head, "processType"))
                        || has(head, "symbolicationTable");
        return gecko && !has(head, "traceEvents")
                ? "is a Gecko profile that was not processed, or is too old:"
                        + " profiler.firefox.com opens it and saves a profile that is read"
                : "";
    }

    private static boolean has(String head, String key) {
        return head.contains("\"" + key + "\"");
    }
}
