package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
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
import sonde.sys.Errno;

/** {@code sonde bpf map}. */
@Command(
        addMethodSubcommands = false,
        name = "map",
        mixinStandardHelpOptions = true,
        description = "Lists maps; makes, shows, dumps, changes or watches one.",
        footer = {
            "",
            "Actions: list show dump lookup getnext update delete push pop enqueue dequeue peek",
            "freeze pin create watch. 'create PATH type TYPE key SIZE value SIZE entries N name",
            "NAME [flags N]' pins what it makes; 'update' may end in any, noexist or exist.",
            "",
            "Bytes of keys and values are written 0x2a 0 0 0, after 'hex' 2a 00 00 00, or as one",
            "number when the key or value has 1, 2, 4 or 8 bytes.",
            "",
            "Examples:",
            "  sonde bpf map list",
            "  sonde bpf map dump name counts",
            "  sonde bpf map update id 5 key 7 value 42",
            "  sonde bpf map lookup id 5 key 7",
            "  sonde bpf map create /sys/fs/bpf/seen type hash key 4 value 8 entries 64 name seen",
            "  sonde bpf map push pinned /sys/fs/bpf/queue value 42",
            "  sonde bpf map delete id 5 key hex 07 00 00 00",
            "  sonde bpf map watch name counts --interval 1s"
        })
final class BpfMapCommand implements Callable<Integer> {
    private static final List<String> ACTIONS =
            List.of(
                    "list", "show", "dump", "lookup", "getnext", "update", "delete", "push", "pop",
                    "enqueue", "dequeue", "peek", "freeze", "pin", "create", "watch");

    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "ACTION",
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
        if (action.equals("create")) {
            return BpfMapCreate.run(words.subList(1, words.size()), line);
        }
        BpfTarget target = BpfTarget.of(words.subList(1, words.size()), line);
        List<String> rest = words.subList(3, words.size());
        try (BpfMap map = target.map(line)) {
            return act(action, map, rest);
        }
    }

    private int act(String action, BpfMap map, List<String> rest)
            throws IOException, InterruptedException {
        CommandLine line = spec.commandLine();
        PrintWriter out = line.getOut();
        switch (action) {
            case "dump" -> dump(MapEntries.of(map), out);
            case "update", "push", "enqueue" -> update(map, rest, line);
            case "lookup" -> {
                return entry(MapEntries.get(map, key(map, rest, line)), out);
            }
            case "peek" -> {
                return entry(MapEntries.get(map, new byte[0]), out);
            }
            case "pop", "dequeue" -> {
                return entry(MapEntries.take(map, new byte[0]), out);
            }
            case "getnext" -> {
                return next(map, rest, out);
            }
            case "delete" -> {
                byte[] key = key(map, rest, line);
                return MapEntries.delete(map, key) ? ExitCode.DONE : ExitCode.NEGATIVE;
            }
            case "freeze" -> map.freeze();
            case "pin" -> {
                return BpfPins.pin(words.subList(1, words.size()), map.fd(), line);
            }
            case "watch" -> watch(map, Durations.nanos(interval, line), out);
            default -> BpfRows.show(new Inventory(Holders.now()).map(map), json, out);
        }
        return ExitCode.DONE;
    }

    private static byte[] key(BpfMap map, List<String> rest, CommandLine line) {
        return BpfBytes.parse(after("key", rest, line), keyBytes(map), line);
    }

    private int entry(MapEntries.@Nullable Entry entry, PrintWriter out) {
        if (entry == null) {
            return ExitCode.NEGATIVE;
        }
        out.print(json ? BpfJson.of(tree(entry)) : text(entry) + "\n");
        out.flush();
        return ExitCode.DONE;
    }

    /** The key behind the one given, the first without one; as bpftool's getnext. */
    private int next(BpfMap map, List<String> rest, PrintWriter out) throws IOException {
        byte[] key = rest.isEmpty() ? null : key(map, rest, spec.commandLine());
        byte[] next = MapEntries.next(map, key);
        if (next == null) {
            return ExitCode.NEGATIVE;
        }
        Map<String, @Nullable Object> tree = new LinkedHashMap<>();
        tree.put("key", key == null ? null : BpfBytes.texts(key));
        tree.put("next_key", BpfBytes.texts(next));
        out.print(json ? BpfJson.of(tree) : "next key " + BpfBytes.shown(next) + "\n");
        out.flush();
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

    private static void update(BpfMap map, List<String> words, CommandLine line)
            throws IOException {
        String last = words.isEmpty() ? "" : words.getLast();
        BpfMap.Mode mode =
                switch (last) {
                    case "noexist" -> BpfMap.Mode.IF_ABSENT;
                    case "exist" -> BpfMap.Mode.IF_PRESENT;
                    default -> BpfMap.Mode.ANY;
                };
        boolean said = mode != BpfMap.Mode.ANY || last.equals("any");
        List<String> rest = said ? words.subList(0, words.size() - 1) : words;
        byte[] key = keyBytes(map) == 0 ? new byte[0] : key(map, rest, line);
        byte[] value = BpfBytes.parse(after("value", rest, line), map.spec().valueBytes(), line);
        MapEntries.put(map, key, value, mode);
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
        if (entry.problem() != 0) {
            tree.put("value", Map.of("error", Errno.meaning(entry.problem())));
        } else if (entry.values().size() == 1) {
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
        if (entry.problem() != 0) {
            boolean empty = entry.problem() == Errno.ENOENT;
            line.append(empty ? "  no entry" : "  " + Errno.meaning(entry.problem()));
        }
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
