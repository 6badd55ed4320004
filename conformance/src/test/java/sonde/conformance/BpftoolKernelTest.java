package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramType;
import sonde.bpf.insn.Assembler;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.inventory.MapEntries;

/**
 * {@code sonde bpf prog dump|btf|map|link} beside Debian's bpftool 7.1; where they differ stands in
 * {@code known-differences/bpftool.md}.
 */
@Tag("kernel")
final class BpftoolKernelTest {
    @TempDir private static Path folder;

    private static Sonde.Outcome ours(String... words) throws Exception {
        List<String> all = new ArrayList<>(List.of("bpf"));
        all.addAll(List.of(words));
        return Sonde.in(folder).run(all.toArray(String[]::new));
    }

    private static String text(String... words) throws Exception {
        Sonde.Outcome outcome = ours(words);
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out();
    }

    private static String theirs(String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of("bpftool"));
        command.addAll(List.of(words));
        try {
            return Sonde.in(folder).execute(command).out();
        } catch (java.io.IOException e) {
            return Assumptions.abort("bpftool is missing");
        }
    }

    private static List<Map<String, Object>> rows(String json, String... without) throws Exception {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Json row : Json.parse("{\"all\":" + json + "}").objects("all")) {
            Map<String, Object> members = new TreeMap<>(row.members());
            members.keySet().removeAll(List.of(without));
            rows.add(members);
        }
        return rows;
    }

    private static ProgramCode counting(BpfMap map) throws Exception {
        return Assembler.assemble(
                """
                *(u32 *)(r10 -4) = 0
                r2 = r10
                r2 += -4
                r1 = map[fd:%d]
                call bpf_map_lookup_elem
                if r0 == 0 goto out
                r1 = 1
                lock *(u64 *)(r0 +0) += r1
                call other
                out: r0 = 0
                exit
                other: call bpf_ktime_get_ns
                exit
                """
                        .formatted(map.fd()));
    }

    @Test
    void instructionsAreDumpedAsBpftoolDumpsThem() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("c_dump", MapType.HASH, 4, 8, 2));
                Program program =
                        Program.load("c_dump", ProgramType.RAW_TRACEPOINT, counting(map))) {
            String id = "" + program.facts().id();
            String mine = text("prog", "dump", "xlated", "id", id, "opcodes");
            assertThat(mine.replaceAll("  ; c_dump\n", "\n"))
                    .contains("#bpf_prog_")
                    .isEqualTo(
                            theirs("prog", "dump", "xlated", "id", id, "opcodes").stripTrailing()
                                    + "\n");
            assertThat(mine).contains("map[id:" + map.facts().id() + "]  ; c_dump");
            assertThat(rows(text("prog", "dump", "xlated", "id", id, "--json"), "map_name"))
                    .isEqualTo(rows(theirs("-j", "prog", "dump", "xlated", "id", id)));
            Path raw = folder.resolve("xlated");
            Path peer = folder.resolve("xlated.bpftool");
            text("prog", "dump", "xlated", "id", id, "file", raw.toString());
            theirs("prog", "dump", "xlated", "id", id, "file", peer.toString());
            assertThat(raw).hasSameBinaryContentAs(peer);
            Sonde.Outcome machine = ours("prog", "dump", "jited", "id", id, "--json");
            assertThat(machine.out()).contains("\"operation\":\"push\"", "bpf_prog_");
        }
    }

    @Test
    void typesOfTheKernelAreDumpedAsBpftoolDumpsThem() throws Exception {
        String vmlinux = "/sys/kernel/btf/vmlinux";
        assertThat(text("btf", "dump", "file", vmlinux).equals(theirs("btf", "dump", "id", "1")))
                .as("the whole listing is equal")
                .isTrue();
        assertThat(text("btf", "dump", "file", vmlinux, "root_id", "1", "--json"))
                .startsWith("{\"types\":[{\"id\":1,");
        assertThat(rows(text("btf", "list", "--json"), "pids").getFirst())
                .isEqualTo(rows(theirs("-j", "btf", "list"), "pids").getFirst());
        assertThat(text("btf", "dump", "name", "list_head"))
                .contains("struct list_head { /* 16 bytes */", "struct list_head *prev;");
        assertThat(ours("btf", "dump", "name", "no_such_type").status()).isEqualTo(1);
    }

    @Test
    void mapsAreReadAndChangedWithBpftoolsWords() throws Exception {
        Path mount = Files.createDirectory(folder.resolve("bpffs"));
        Sonde.in(folder).execute(List.of("mount", "-t", "bpf", "bpf", mount.toString()));
        String queue = mount + "/sonde_c_queue";
        try (BpfMap map = BpfMap.create(new MapSpec("c_words", MapType.HASH, 4, 4, 8))) {
            String id = "" + map.facts().id();
            MapEntries.put(map, new byte[] {5, 0, 0, 0}, new byte[] {1, 2, 3, 4});
            String[] key = {"key", "hex", "05", "00", "00", "00"};
            assertThat(rows("[" + text("map", "lookup", "id", id, "key", "5", "--json") + "]"))
                    .isEqualTo(
                            rows(
                                    "["
                                            + theirs(
                                                    "-j", "map", "lookup", "id", id, key[0], key[1],
                                                    key[2], key[3], key[4], key[5])
                                            + "]"));
            assertThat(text("map", "getnext", "id", id, "--json"))
                    .isEqualToIgnoringWhitespace(theirs("-j", "map", "getnext", "id", id));
            assertThat(
                            ours("map", "update", "id", id, "key", "5", "value", "9", "noexist")
                                    .status())
                    .isNotZero();
            text(
                    "map", "create", queue, "type", "queue", "key", "0", "value", "4", "entries",
                    "4", "name", "c_queue");
            text("map", "push", "pinned", queue, "value", "42");
            assertThat(text("map", "peek", "pinned", queue)).contains("(42)");
            assertThat(text("pin", "list")).contains(queue);
            assertThat(text("map", "pop", "pinned", queue)).contains("(42)");
            assertThat(ours("map", "pop", "pinned", queue).status()).isEqualTo(1);
            text("pin", "remove", queue);
            assertThat(Path.of(queue)).doesNotExist();
            assertThat(ours("pin", "map", "id", id, folder.resolve("plain").toString()).err())
                    .contains("its folder is not a bpffs; mount one");
        } finally {
            Sonde.in(folder).execute(List.of("umount", mount.toString()));
        }
    }

    @Test
    void linksAreListedAsBpftoolListsThem() throws Exception {
        try (Program program =
                        Program.load(
                                "c_link",
                                ProgramType.RAW_TRACEPOINT,
                                Assembler.assemble("r0 = 0\nexit\n"));
                Link link = Link.rawTracepoint(program, "sched_switch")) {
            long id = link.facts().id();
            assertThat(rows(text("link", "list", "--json"), "pids"))
                    .filteredOn(row -> row.get("id").equals(id))
                    .isEqualTo(
                            rows(theirs("-j", "link", "list"), "pids").stream()
                                    .filter(row -> row.get("id").equals(id))
                                    .toList())
                    .hasSize(1);
            String json =
                    text(
                            "prog",
                            "profile",
                            "id",
                            "" + program.facts().id(),
                            "--duration",
                            "200ms",
                            "--json");
            assertThat(rows(json).getFirst()).containsKeys("run_cnt", "run_time_ns");
        }
    }
}
