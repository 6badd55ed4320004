package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.BpfMap;
import sonde.bpf.inventory.Holders;
import sonde.bpf.inventory.Inventory;
import sonde.bpf.inventory.MapEntries;

/** {@code sonde bpf map}. */
@Command(
        addMethodSubcommands = false,
        name = "map",
        mixinStandardHelpOptions = true,
        description = "Lists maps; shows, dumps, changes or watches one.",
        footer = {
            "",
            "Bytes of keys and values are written 0x2a 0 0 0, after 'hex' 2a 00 00 00, or as one",
            "number when the key or value has 1, 2, 4 or 8 bytes.",
            "",
            "Examples:",
            "  sonde bpf map list",
            "  sonde bpf map dump name counts",
            "  sonde bpf map update id 5 key 7 value 42",
            "  sonde bpf map delete id 5 key hex 07 00 00 00",
            "  sonde bpf map watch name counts --interval 1s"
        })
final class BpfMapCommand implements Callable<Integer> {
    private static final List<String> ACTIONS =
            List.of("list", "show", "dump", "update", "delete", "watch");

    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "list|show|dump|update|delete|watch",
            description = "then: id NUMBER, name NAME, or pinned PATH; then what is to be put")
    private List<String> words;

    @Option(names = "--interval", defaultValue = "1s", description = "between two looks of watch")
    private String interval;

    @Option(names = "--count", defaultValue = "0", description = "end watch after so many looks")
    private int count;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfMapCommand() {
        words = List.of();
        interval = "1s";
    }

    @Override
    public Integer call() throws Exception {
        CommandLine line = spec.commandLine();
        PrintWriter out = line.getOut();
        String action = BpfActions.check(words, ACTIONS, line).getFirst();
        if (words.size() == 1 && (action.equals("list") || action.equals("show"))) {
            return BpfRows.list(
                    "maps",
                    new Inventory(Holders.now()).maps(),
                    List.of("id", "type", "name", "bytes_key", "bytes_value", "max_entries"),
                    json,
                    out);
        }
        BpfTarget target = BpfTarget.of(words.subList(1, words.size()), line);
        List<String> rest = words.subList(3, words.size());
        try (BpfMap map = target.map(line)) {
            switch (action) {
                case "dump" -> dump(MapEntries.of(map), out);
                case "update" -> update(map, rest, line);
                case "delete" -> {
                    byte[] key = BpfBytes.parse(after("key", rest, line), keyBytes(map), line);
                    return MapEntries.delete(map, key) ? ExitCode.DONE : ExitCode.NEGATIVE;
                }
                case "watch" -> watch(map, Durations.nanos(interval, line), out);
                default -> BpfRows.show(new Inventory(Holders.now()).map(map), json, out);
            }
        }
        return ExitCode.DONE;
    }

    private static int keyBytes(BpfMap map) {
        return map.spec().keyBytes();
    }

    /** The words between a keyword and the next, or the end. */
    private static List<String> after(String keyword, List<String> rest, CommandLine line) {
        int from = rest.indexOf(keyword);
        if (from < 0) {
            throw new ParameterException(line, "say '" + keyword + "' and its bytes");
        }
        int to = keyword.equals("key") ? rest.indexOf("value") : rest.size();
        return rest.subList(from + 1, to < from ? rest.size() : to);
    }

    private static void update(BpfMap map, List<String> rest, CommandLine line) throws IOException {
        byte[] key =
                keyBytes(map) == 0
                        ? new byte[0]
                        : BpfBytes.parse(after("key", rest, line), keyBytes(map), line);
        byte[] value = BpfBytes.parse(after("value", rest, line), map.spec().valueBytes(), line);
        MapEntries.put(map, key, value);
    }

    private void dump(List<MapEntries.Entry> entries, PrintWriter out) {
        if (json) {
            out.print(BpfJson.of(entries.stream().map(BpfMapCommand::tree).toList()));
        } else {
            for (MapEntries.Entry entry : entries) {
                out.println(text(entry));
            }
            out.println(entries.size() == 1 ? "1 entry" : entries.size() + " entries");
        }
        out.flush();
    }

    /** bpftool's shape: bytes as texts, per CPU under "values", typed under "formatted". */
    private static Map<String, Object> tree(MapEntries.Entry entry) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("key", BpfBytes.texts(entry.key()));
        if (entry.values().size() == 1) {
            tree.put("value", BpfBytes.texts(entry.values().getFirst()));
        } else {
            List<Map<String, Object>> cpus = new ArrayList<>();
            for (int cpu = 0; cpu < entry.values().size(); cpu++) {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("cpu", (long) cpu);
                one.put("value", BpfBytes.texts(entry.values().get(cpu)));
                cpus.add(one);
            }
            tree.put("values", cpus);
        }
        if (!entry.formatted().isEmpty()) {
            tree.put("formatted", entry.formatted());
        }
        return tree;
    }

    private static String text(MapEntries.Entry entry) {
        if (!entry.formatted().isEmpty()) {
            return BpfJson.of(entry.formatted()).strip();
        }
        StringBuilder line = new StringBuilder("key " + BpfBytes.shown(entry.key()));
        for (byte[] value : entry.values()) {
            line.append("  value ").append(BpfBytes.shown(value));
        }
        return line.toString();
    }

    /** What has come, changed or gone since the last look. */
    private void watch(BpfMap map, long nanos, PrintWriter out)
            throws IOException, InterruptedException {
        Map<String, String> last = new LinkedHashMap<>();
        for (int look = 0; count == 0 || look < count; look++) {
            if (look > 0) {
                Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
            }
            Map<String, String> now = new LinkedHashMap<>();
            for (MapEntries.Entry entry : MapEntries.of(map)) {
                String key = BpfBytes.shown(entry.key());
                String text = text(entry);
                now.put(key, text);
                if (!text.equals(last.get(key))) {
                    String sign = last.containsKey(key) ? "~ " : "+ ";
                    out.println(sign + (json ? BpfJson.of(tree(entry)).strip() : text));
                }
            }
            for (String key : last.keySet()) {
                if (!now.containsKey(key)) {
                    out.println("- key " + key);
                }
            }
            out.flush();
            last = now;
        }
    }
}
