package sonde.bpf.verifier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.Leaks;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapSpec;
import sonde.bpf.MapSpec.MapTypes;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.VerifierException;
import sonde.bpf.insn.Assembler;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.inventory.MapEntries;
import sonde.bpf.link.KernelTypes;
import sonde.sys.MachineFacts;
import sonde.testkit.BtfBytes;

/** Every program of {@code refused.txt} is refused by this kernel, and the refusal explained. */
@Tag("kernel")
final class VerifierKernelTest {
    private static final Pattern HOLE = Pattern.compile("\\{(\\w+)( (\\w+))?}");
    private static final Map<String, BpfMap> MAPS = new HashMap<>();

    @BeforeAll
    static void makeMaps() throws Exception {
        MAPS.put("hash", make(MapType.HASH, 4, 8, 8, 0));
        MAPS.put("array", make(MapType.ARRAY, 4, 8, 1, 0));
        MAPS.put("writeonly", make(MapType.ARRAY, 4, 8, 1, 1 << 8));
        MAPS.put("ring", make(MapType.RING_BUFFER, 0, 0, 4096, 0));
        MAPS.put("programs", make(MapType.PROG_ARRAY, 4, 4, 1, 0));
        MAPS.put("format", frozen("%q\0\0\0\0\0\0"));
        MAPS.put("unended", frozen("abcdefgh"));
        MAPS.put("locked", locked());
    }

    private static BpfMap make(MapType type, int key, int value, int entries, int flags)
            throws Exception {
        return BpfMap.create(new MapSpec("refused", type, key, value, entries).with(flags));
    }

    private static BpfMap frozen(String text) throws Exception {
        BpfMap map = make(MapType.ARRAY, 4, 8, 1, MapSpec.READ_ONLY_IN_PROGRAMS);
        MapEntries.put(map, new byte[4], text.getBytes(StandardCharsets.US_ASCII));
        map.freeze();
        return map;
    }

    /** An array of struct { struct bpf_spin_lock lock; int number; }. */
    private static BpfMap locked() throws Exception {
        BtfBytes btf = new BtfBytes(ByteOrder.nativeOrder());
        int number = btf.integer("int", 4, 1);
        int lock = btf.type("bpf_spin_lock", 4, 1, false, 4);
        btf.name("val").word(number).word(0);
        int value = btf.type("value", 4, 2, false, 8);
        btf.name("lock").word(lock).word(0);
        btf.name("number").word(number).word(32);
        try (LoadedBtf loaded = LoadedBtf.load(btf.toBytes())) {
            return BpfMap.create(
                    new MapSpec("refused", MapType.ARRAY, 4, 8, 1)
                            .withTypes(new MapTypes(loaded.fd(), number, value)));
        }
    }

    @AfterAll
    static void closeMaps() {
        MAPS.values().forEach(BpfMap::close);
    }

    @TestFactory
    Stream<DynamicTest> programsAreRefusedAndExplained() throws Exception {
        String release = MachineFacts.uname().release();
        return Refused.all().stream()
                .filter(one -> one.concerns(release))
                .map(one ->
                        DynamicTest.dynamicTest(one.id() + ", " + one.type(), () -> check(one)));
    }

    private static void check(Refused one) throws Exception {
        Leaks before = Leaks.now();
        VerifierException e = refusal(one);
        Explanation explanation = e.explanation();
        String all = String.join("\n", explanation.lines()) + "\n\n" + e.log();
        String log = all.substring(0, Math.min(all.length(), 6000));
        assertThat(explanation.id()).as(log).isEqualTo(one.id());
        assertThat(explanation.cause()).as(log).contains(one.option("says"));
        assertThat(explanation.remedy()).as(log).contains(one.option("hint"));
        SourceLine source = explanation.source();
        if (one.program().contains("; here")) {
            assertThat(source).as(log).isNotNull();
            assertThat(source.text()).as(log).endsWith("; here");
            assertThat(source.place()).as(log).isIn(places(one.program()));
        } else if (!one.option("nowhere").isEmpty()) {
            assertThat(explanation.slot()).as(log).isEqualTo(-1);
        }
        assertThat(explanation.cause() + explanation.remedy()).as(log).doesNotContain("{", "}");
        before.assertNothingLeftSince();
    }

    private static List<String> places(String program) {
        List<String> lines = program.lines().toList();
        return IntStream.range(0, lines.size())
                .filter(i -> lines.get(i).endsWith("; here"))
                .mapToObj(i -> "case.asm:" + (i + 1))
                .toList();
    }

    private static VerifierException refusal(Refused one) throws Exception {
        try (KernelTypes types = KernelTypes.open()) {
            String text =
                    HOLE.matcher(one.program())
                            .replaceAll(hole -> "" + number(types, hole.group(1), hole.group(3)));
            ProgramCode code = Assembler.assemble(text);
            ProgramType type = ProgramType.valueOf(one.type().toUpperCase(Locale.ROOT));
            LinedProgram.Made made =
                    LinedProgram.of(text, code, !one.option("btf").equals("lines"));
            ProgramSpec plain = new ProgramSpec("refused", type, code);
            ProgramSpec spec =
                    plain.with(
                                    type == ProgramType.SYSCALL
                                                    || one.option("flags").equals("sleepable")
                                            ? ProgramSpec.SLEEPABLE
                                            : 0)
                            .licensed(one.options().getOrDefault("license", "GPL"))
                            .with(made.debug());
            if (type == ProgramType.TRACING) {
                int id = one.option("attach").equals("no") ? 1 : types.tracepoint("sched_switch");
                spec = spec.targeting(AttachType.TRACE_RAW_TP, id);
            }
            ProgramSpec asked = spec;
            try (LoadedBtf _ = made.btf()) {
                return Objects.requireNonNull(
                        catchThrowableOfType(
                                VerifierException.class, () -> Program.load(asked).close()),
                        () -> one.id() + " is accepted");
            }
        }
    }

    private static int number(KernelTypes types, String kind, String name) {
        try {
            return kind.equals("kfunc") ? types.function(name) : MAPS.get(kind).fd();
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void sixtyKindsAreTriggered() throws Exception {
        Set<String> kinds = new HashSet<>();
        for (Refused one : Refused.all()) {
            kinds.add(one.id());
        }
        assertThat(kinds).hasSizeGreaterThanOrEqualTo(60);
    }
}
