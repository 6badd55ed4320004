package sonde.tools.bpf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.inventory.BpfInventory;
import sonde.bpf.inventory.CgroupPrograms;
import sonde.bpf.inventory.NetworkPrograms;
import sonde.bpf.inventory.ObjectHolders;
import sonde.event.result.Column;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Unit;
import sonde.tools.report.NothingMatchesException;
import sonde.view.TextEscape;

/** What BPF objects this machine has. */
public final class InventoryRecipe {
    private static final Set<String> TEXTS = Set.of("type", "name", "tag", "prog_ids", "map_ids");
    private static final Set<String> APART = Set.of("pids", "pinned");
    private static final String CGROUP_LINE = "%-8s %-26s %-9s %s%n";

    private InventoryRecipe() {}

    private static BpfInventory inventory() throws IOException {
        return new BpfInventory(ObjectHolders.now());
    }

    /** All programs. */
    public static Result programs() throws IOException {
        return programs(inventory().programs());
    }

    /** These programs; one alone with all its facts. */
    public static Result programs(Iterable<Program> programs) throws IOException {
        BpfInventory inventory = inventory();
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Program program : programs) {
            rows.add(inventory.program(program));
        }
        return rows.size() == 1 ? facts(rows.getFirst()) : programs(rows);
    }

    private static Result programs(List<Map<String, Object>> rows) {
        return table("programs", rows, "id", "type", "name", "tag", "bytes_xlated");
    }

    /** All maps. */
    public static Result maps() throws IOException {
        List<Map<String, Object>> rows = inventory().maps();
        return table("maps", rows, "id", "type", "name", "bytes_key", "bytes_value", "max_entries");
    }

    /** One map. */
    public static Result map(BpfMap map) throws IOException {
        return facts(inventory().map(map));
    }

    /** All links. */
    public static Result links() throws IOException {
        return table("links", inventory().links(), "id", "type", "prog_id");
    }

    /** One link. */
    public static Result link(Link link) throws IOException {
        return facts(inventory().link(link));
    }

    /** All BTF objects. */
    public static Result types() throws IOException {
        return table("types", inventory().types(), "id", "name", "size", "prog_ids", "map_ids");
    }

    /**
     * All objects as a table.
     *
     * @param columns keys of the table; without a name among them, what else a row has follows
     */
    private static Result table(String title, List<Map<String, Object>> rows, String... columns) {
        List<String> keys = List.of(columns);
        List<Column> heads = new ArrayList<>();
        for (String key : keys) {
            Unit unit = TEXTS.contains(key) ? Unit.TEXT : Unit.ID;
            heads.add(new Column(key.replace("bytes_", ""), unit));
        }
        boolean more = !keys.contains("name");
        if (more) {
            heads.add(Column.text("target"));
        }
        heads.add(Column.text("held by"));
        List<List<@Nullable Object>> cells = new ArrayList<>();
        for (Map<String, Object> row : rows) {
            List<@Nullable Object> line = new ArrayList<>();
            for (int i = 0; i < keys.size(); i++) {
                Object value = row.get(keys.get(i));
                boolean id = heads.get(i).unit() == Unit.ID;
                line.add(value == null ? null : id ? value : value.toString());
            }
            if (more) {
                line.add(more(row, keys));
            }
            line.add(held(row));
            cells.add(line);
        }
        return Document.of(rows, new Table(title, heads, cells));
    }

    private static String more(Map<String, Object> row, List<String> columns) {
        List<String> words = new ArrayList<>();
        row.forEach((key, value) -> {
            if (!columns.contains(key) && !APART.contains(key)) {
                words.add(key + " " + value);
            }
        });
        return String.join(", ", words);
    }

    private static String held(Map<String, Object> row) {
        List<String> words = new ArrayList<>();
        if (row.get("pids") instanceof List<?> pids) {
            for (Object pid : pids) {
                if (pid instanceof Map<?, ?> holder) {
                    words.add(holder.get("comm") + "(" + holder.get("pid") + ")");
                }
            }
        }
        if (row.get("pinned") instanceof List<?> pins) {
            pins.forEach(pin -> words.add(String.valueOf(pin)));
        }
        return String.join(" ", words);
    }

    /** One object, a line for each fact. */
    private static Result facts(Map<String, Object> row) {
        return Document.of(
                row,
                Listing.ofLines(out -> {
                    row.forEach((key, value) -> {
                        if (!APART.contains(key)) {
                            out.printf("%-18s %s%n", key, TextEscape.line("" + value));
                        }
                    });
                    String held = TextEscape.line(held(row));
                    out.printf("%-18s %s%n", "held by", held.isEmpty() ? "nobody" : held);
                }));
    }

    /** Every name in a bpffs, of programs, maps and links. */
    public static Result pins() throws IOException {
        BpfInventory inventory = inventory();
        List<Map<String, Object>> rows = new ArrayList<>();
        addPins("prog", inventory.programs(), rows);
        addPins("map", inventory.maps(), rows);
        addPins("link", inventory.links(), rows);
        return Document.of(
                rows,
                Listing.ofLines(out -> {
                    for (Map<String, Object> row : rows) {
                        String path = TextEscape.line("" + row.get("pinned"));
                        out.printf("%-5s %8s  %s%n", row.get("kind"), row.get("id"), path);
                    }
                }));
    }

    private static void addPins(
            String kind, List<Map<String, Object>> objects, List<Map<String, Object>> rows) {
        for (Map<String, Object> object : objects) {
            if (object.get("pinned") instanceof List<?> pins) {
                for (Object pin : pins) {
                    Map<String, Object> row = new LinkedHashMap<>();
                    row.put("kind", kind);
                    row.put("id", object.get("id"));
                    row.put("pinned", pin);
                    rows.add(row);
                }
            }
        }
    }

    /**
     * The programs of a cgroup.
     *
     * @param effective whether those of the cgroups above it count, too
     */
    public static Result cgroup(Path folder, boolean effective) throws IOException {
        List<Map<String, Object>> programs = CgroupPrograms.of(folder, effective);
        return Document.of(
                programs,
                Listing.ofLines(out -> {
                    cgroupHead(out);
                    programs.forEach(program -> cgroupLine(program, out));
                }));
    }

    /** The programs of every cgroup below a folder, or of all. */
    public static Result cgroups(@Nullable Path root, boolean effective) throws IOException {
        Path top = root;
        if (top == null) {
            top =
                    CgroupPrograms.root()
                            .orElseThrow(() ->
                                    new NothingMatchesException("no cgroup2 is mounted here"));
        }
        List<Map<String, Object>> cgroups = CgroupPrograms.tree(top, effective);
        return Document.of(
                cgroups,
                Listing.ofLines(out -> {
                    cgroupHead(out);
                    for (Map<String, Object> cgroup : cgroups) {
                        out.println(TextEscape.line("" + cgroup.get("cgroup")));
                        if (cgroup.get("programs") instanceof List<?> programs) {
                            programs.forEach(program -> cgroupLine((Map<?, ?>) program, out));
                        }
                    }
                }));
    }

    private static void cgroupHead(PrintWriter out) {
        out.printf(CGROUP_LINE, "id", "attach_type", "flags", "name");
    }

    private static void cgroupLine(Map<?, ?> program, PrintWriter out) {
        out.printf(
                CGROUP_LINE,
                program.get("id"),
                program.get("attach_type"),
                program.containsKey("attach_flags") ? program.get("attach_flags") : "",
                TextEscape.line("" + program.get("name")));
    }

    /**
     * The programs of network devices.
     *
     * @param device of this one; empty for all
     */
    public static Result network(String device) throws IOException {
        Map<String, List<Map<String, Object>>> rows = NetworkPrograms.now(device);
        return Document.of(
                List.of(rows),
                Listing.ofLines(out ->
                        rows.forEach((kind, programs) -> {
                            out.println(kind + ":");
                            programs.forEach(one -> out.println("  " + networkLine(one)));
                        })));
    }

    private static String networkLine(Map<String, Object> program) {
        StringBuilder text = new StringBuilder();
        program.forEach((key, value) -> {
            switch (key) {
                case "devname" -> text.append(value);
                case "ifindex" -> text.append('(').append(value).append(')');
                case "mode", "kind", "name" -> text.append(' ').append(value);
                default -> text.append(' ').append(key).append(' ').append(value);
            }
        });
        return TextEscape.line(text.toString().strip());
    }
}
