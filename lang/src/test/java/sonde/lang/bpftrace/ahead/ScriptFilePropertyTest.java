package sonde.lang.bpftrace.ahead;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.bpf.MapType;
import sonde.bpf.core.CoreKind;
import sonde.lang.bpftrace.ahead.ScriptFile.Piece;
import sonde.lang.bpftrace.ahead.ScriptFile.Question;
import sonde.lang.bpftrace.ahead.ScriptFile.Records;
import sonde.lang.bpftrace.ahead.ScriptFile.Want;
import sonde.lang.bpftrace.ahead.ScriptFile.Wish;
import sonde.lang.bpftrace.expand.Option;
import sonde.lang.bpftrace.lower.Action;
import sonde.lang.bpftrace.lower.MapPlan;
import sonde.lang.bpftrace.lower.Reference;
import sonde.lang.bpftrace.run.AheadScript;
import sonde.lang.bpftrace.run.Machine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.output.RuntimeFault;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/** Files are read as they were written; damaged ones are refused and nothing else. */
final class ScriptFilePropertyTest {
    private static final SourceText SOURCE = new SourceText("a.bt", "begin { @m[1] = 2; exit(); }");
    private static final Span SPAN = new Span(SOURCE, 0, 5);
    private static final long WIDE = 0x18;

    private static Struct pair() {
        return new Struct(
                "pair",
                false,
                8,
                4,
                () -> List.of(new Field("a", Type.Int.I32, 0), new Field("b", Type.Int.U8, 4)));
    }

    private static Tuple everyType(Struct struct) {
        return Tuple.of(
                List.of(
                        Type.Int.I64,
                        new Type.Bool(),
                        new Type.Text(16),
                        new Type.Bytes(8),
                        new Type.Pointer(new Type.Void(), Type.Space.KERNEL),
                        new Type.Array(Type.Int.U16, 4),
                        new Type.Enum("color", 4, false, Map.of(1L, "RED")),
                        new Type.Named(Type.Special.INET),
                        new Type.Stack(true, Type.StackMode.PERF, 5),
                        struct));
    }

    private static List<MapPlan> maps(Tuple all) {
        return List.of(
                new MapPlan("@m", false, Type.Int.I64, all, MapType.HASH, 8, 240, 10),
                new MapPlan(
                        "@h",
                        true,
                        Type.Int.I64,
                        new Type.Hist(2),
                        MapType.PER_CPU_ARRAY,
                        4,
                        2048,
                        1),
                new MapPlan(
                        "@l",
                        false,
                        Type.Int.I64,
                        new Type.Lhist(0, 100, 10),
                        MapType.PER_CPU_HASH,
                        8,
                        96,
                        10),
                new MapPlan(
                        "@t",
                        false,
                        Type.Int.I64,
                        new Type.Series(5, 10, true, Type.SeriesKind.MAX),
                        MapType.PER_CPU_HASH,
                        8,
                        240,
                        10));
    }

    private static List<Action> actions(Struct struct, Tuple all) {
        return List.of(
                new Action.Print("%d %s\n", Tuple.of(List.of(Type.Int.I32, struct))),
                new Action.PrintValue(all),
                new Action.PrintValue(new Type.Stack(true, Type.StackMode.RAW, 5, true)),
                new Action.PrintMap("@m", 5, 10),
                new Action.EmptyMap("@h", true),
                new Action.Exit(),
                new Action.Time("%H"),
                new Action.Cat("/%s", Tuple.of(List.of(new Type.Text(8)))),
                new Action.System("ls", Tuple.of(List.of())),
                new Action.Join(" ", 16, 64),
                new Action.Report(true, "no\n", Tuple.of(List.of()), SPAN),
                new Action.HelperError("bpf_probe_read", SPAN),
                new Action.Fault(RuntimeFault.DIVIDE_BY_ZERO, SPAN),
                new Action.Unwatch(),
                new Action.Packet("a.pcap", 14),
                new Action.Put("@m"),
                new Action.Pattern("%Y"));
    }

    private static ScriptFile file() {
        Struct struct = pair();
        Tuple all = everyType(struct);
        Reference[] names = {
            new Reference.EventField("sched", "switch", "pid", Reference.Aspect.SIZE, 0),
            new Reference.Argument("vmlinux", "vfs_read", "file"),
            new Reference.EventArgument("sched_switch", "prev"),
            new Reference.Symbol("schedule"),
            new Reference.Variable("runqueues"),
            new Reference.ControlGroup("/sys/fs/cgroup"),
            new Reference.Run(Reference.Fact.CPUS)
        };
        List<Wish> wishes = new java.util.ArrayList<>();
        for (int i = 0; i < names.length; i++) {
            wishes.add(new Wish(2 * i, i % 2 == 0 ? SPAN : null, new Want.Named(names[i])));
        }
        wishes.add(
                new Wish(
                        0,
                        SPAN,
                        new Want.Type(new Question(1, "0:1", CoreKind.FIELD_BYTE_OFFSET, 4))));
        long[] code = new long[20];
        for (int i = 0; i < names.length; i++) {
            code[2 * i] = WIDE;
        }
        code[18] = 0xb7;
        code[19] = 0x95;
        Piece piece =
                new Piece(
                        0,
                        0,
                        false,
                        Kind.KPROBE,
                        SPAN,
                        List.of("kprobe:vfs_read"),
                        "",
                        code,
                        new Records(new byte[] {1}, new byte[8], new byte[16], true),
                        List.of("@m", ".ring"),
                        List.of("bpf_rdonly_cast"),
                        wishes);
        return new ScriptFile(
                "6.18.0",
                List.of(SOURCE),
                maps(all),
                actions(struct, all),
                new byte[] {'a', 0},
                16,
                64,
                new byte[] {1, 2},
                1,
                List.of(piece),
                List.of(
                        new ScriptFile.Asked(
                                new Option("top", Option.Kind.UNSIGNED, "10", "rows"), null),
                        new ScriptFile.Asked(
                                new Option("name", Option.Kind.STRING, "a", ""), "b")));
    }

    @Test
    void isReadAsItWasWritten() throws Exception {
        ScriptFile file = file();
        byte[] bytes = FileWriter.bytes(file);
        ScriptFile read = FileReader.read("a.sbt", bytes);
        assertThat(read.maps()).isEqualTo(file.maps());
        assertThat(read.actions()).isEqualTo(file.actions());
        assertThat(read.options()).isEqualTo(file.options());
        assertThat(read.pieces().getFirst().wishes()).isEqualTo(file.pieces().getFirst().wishes());
        assertThat(read.pieces().getFirst().code()).isEqualTo(file.pieces().getFirst().code());
        assertThat(FileWriter.bytes(read)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13})
    void damageIsRefused(long seed) throws Exception {
        byte[] bytes = FileWriter.bytes(file());
        Random random = new Random(seed);
        for (int i = 0; i < 4000; i++) {
            byte[] damaged = bytes.clone();
            for (int flips = random.nextInt(4); flips >= 0; flips--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            if (random.nextInt(3) == 0) {
                damaged = Arrays.copyOf(damaged, random.nextInt(damaged.length));
            }
            ScriptFile read;
            try {
                read = FileReader.read("damaged", damaged);
            } catch (MalformedInputException e) {
                continue;
            }
            prepare(read);
        }
    }

    /** What can be read can be prepared, or is refused in words. */
    private static void prepare(ScriptFile file) throws Exception {
        TraceOptions options = TraceOptions.USUAL.unsafe(true);
        Diagnostics diagnostics = new Diagnostics();
        try {
            AheadScript script =
                    AheadScript.of(file, options, new Machine(2, 0, 0, 0, 0, 6, 1), diagnostics);
            assertThat(diagnostics.hasErrors() || script.ranked().size() <= 1).isTrue();
        } catch (MalformedInputException e) {
            assertThat(e).hasMessageNotContaining("null");
        }
    }

    @Test
    void otherMachinesAndVersionsAreNamed() {
        byte[] bytes = FileWriter.bytes(file());
        byte[] later = bytes.clone();
        later[8] = 9;
        assertThatThrownBy(() -> FileReader.read("a.sbt", later))
                .hasMessageContaining("reads " + FileWriter.VERSION);
        byte[] other = bytes.clone();
        other[16] = 'x';
        assertThatThrownBy(() -> FileReader.read("a.sbt", other))
                .hasMessageContaining("compiled for");
        assertThatThrownBy(() -> FileReader.read("a.sbt", new byte[3]))
                .hasMessageContaining("no compiled script");
    }
}
