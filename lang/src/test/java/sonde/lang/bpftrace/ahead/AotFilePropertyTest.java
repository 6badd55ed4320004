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
import sonde.lang.bpftrace.ahead.AotFile.AotProgramEntry;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber.NamedNumber;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber.TypeNumber;
import sonde.lang.bpftrace.ahead.AotFile.NumberSlot;
import sonde.lang.bpftrace.ahead.AotFile.RequestedOption;
import sonde.lang.bpftrace.ahead.AotFile.SourceRecords;
import sonde.lang.bpftrace.ahead.AotFile.TypeQuestion;
import sonde.lang.bpftrace.expand.ScriptOption;
import sonde.lang.bpftrace.lower.EventAction;
import sonde.lang.bpftrace.lower.EventAction.CatAction;
import sonde.lang.bpftrace.lower.EventAction.ExitAction;
import sonde.lang.bpftrace.lower.EventAction.FaultAction;
import sonde.lang.bpftrace.lower.EventAction.JoinAction;
import sonde.lang.bpftrace.lower.EventAction.PacketAction;
import sonde.lang.bpftrace.lower.EventAction.PatternAction;
import sonde.lang.bpftrace.lower.EventAction.PrintAction;
import sonde.lang.bpftrace.lower.EventAction.PutAction;
import sonde.lang.bpftrace.lower.EventAction.ReportAction;
import sonde.lang.bpftrace.lower.EventAction.SystemAction;
import sonde.lang.bpftrace.lower.EventAction.TimeAction;
import sonde.lang.bpftrace.lower.EventAction.UnwatchAction;
import sonde.lang.bpftrace.lower.MapPlan;
import sonde.lang.bpftrace.lower.PortableReference;
import sonde.lang.bpftrace.lower.PortableReference.ArgumentReference;
import sonde.lang.bpftrace.lower.PortableReference.MemberAspect;
import sonde.lang.bpftrace.lower.PortableReference.RunFact;
import sonde.lang.bpftrace.lower.PortableReference.RunReference;
import sonde.lang.bpftrace.lower.PortableReference.SymbolReference;
import sonde.lang.bpftrace.lower.PortableReference.VariableReference;
import sonde.lang.bpftrace.run.AheadScript;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.output.RuntimeFault;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;
import sonde.lang.type.StructType;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/** Files are read as they were written; damaged ones are refused and nothing else. */
final class AotFilePropertyTest {
    private static final SourceText SOURCE = new SourceText("a.bt", "begin { @m[1] = 2; exit(); }");
    private static final SourceSpan SPAN = new SourceSpan(SOURCE, 0, 5);
    private static final long WIDE = 0x18;

    private static StructType pair() {
        return new StructType(
                "pair",
                false,
                8,
                4,
                () ->
                        List.of(
                                new TypeField("a", IntType.I32, 0),
                                new TypeField("b", IntType.U8, 4)));
    }

    private static TupleType everyType(StructType struct) {
        return TupleType.of(
                List.of(
                        IntType.I64,
                        new BoolType(),
                        new TextType(16),
                        new BytesType(8),
                        new PointerType(new VoidType(), PointerSpace.KERNEL),
                        new ArrayType(IntType.U16, 4),
                        new EnumType("color", 4, false, Map.of(1L, "RED")),
                        new SpecialType(SpecialValue.INET),
                        new StackType(true, ValueType.StackMode.PERF, 5),
                        struct));
    }

    private static List<MapPlan> maps(TupleType all) {
        return List.of(
                new MapPlan("@m", false, IntType.I64, all, MapType.HASH, 8, 240, 10),
                new MapPlan(
                        "@h",
                        true,
                        IntType.I64,
                        new HistType(2),
                        MapType.PER_CPU_ARRAY,
                        4,
                        2048,
                        1),
                new MapPlan(
                        "@l",
                        false,
                        IntType.I64,
                        new LhistType(0, 100, 10),
                        MapType.PER_CPU_HASH,
                        8,
                        96,
                        10),
                new MapPlan(
                        "@t",
                        false,
                        IntType.I64,
                        new SeriesType(5, 10, true, ValueType.SeriesKind.MAX),
                        MapType.PER_CPU_HASH,
                        8,
                        240,
                        10));
    }

    private static List<EventAction> actions(StructType struct, TupleType all) {
        return List.of(
                new PrintAction("%d %s\n", TupleType.of(List.of(IntType.I32, struct))),
                new EventAction.PrintValue(all),
                new EventAction.PrintValue(new StackType(true, ValueType.StackMode.RAW, 5, true)),
                new EventAction.PrintMap("@m", 5, 10),
                new EventAction.EmptyMap("@h", true),
                new ExitAction(),
                new TimeAction("%H"),
                new CatAction("/%s", TupleType.of(List.of(new TextType(8)))),
                new SystemAction("ls", TupleType.of(List.of())),
                new JoinAction(" ", 16, 64),
                new ReportAction(true, "no\n", TupleType.of(List.of()), SPAN),
                new EventAction.HelperError("bpf_probe_read", SPAN),
                new FaultAction(RuntimeFault.DIVIDE_BY_ZERO, SPAN),
                new UnwatchAction(),
                new PacketAction("a.pcap", 14),
                new PutAction("@m"),
                new PatternAction("%Y"));
    }

    private static AotFile file() {
        StructType struct = pair();
        TupleType all = everyType(struct);
        PortableReference[] names = {
            new PortableReference.EventField("sched", "switch", "pid", MemberAspect.SIZE, 0),
            new ArgumentReference("vmlinux", "vfs_read", "file"),
            new PortableReference.EventArgument("sched_switch", "prev"),
            new SymbolReference("schedule"),
            new VariableReference("runqueues"),
            new PortableReference.ControlGroup("/sys/fs/cgroup"),
            new RunReference(RunFact.CPUS)
        };
        List<NumberSlot> wishes = new java.util.ArrayList<>();
        for (int i = 0; i < names.length; i++) {
            wishes.add(new NumberSlot(2 * i, i % 2 == 0 ? SPAN : null, new NamedNumber(names[i])));
        }
        wishes.add(
                new NumberSlot(
                        0,
                        SPAN,
                        new TypeNumber(new TypeQuestion(1, "0:1", CoreKind.FIELD_BYTE_OFFSET, 4))));
        long[] code = new long[20];
        for (int i = 0; i < names.length; i++) {
            code[2 * i] = WIDE;
        }
        code[18] = 0xb7;
        code[19] = 0x95;
        AotProgramEntry piece =
                new AotProgramEntry(
                        0,
                        0,
                        false,
                        Kind.KPROBE,
                        SPAN,
                        List.of("kprobe:vfs_read"),
                        "",
                        code,
                        new SourceRecords(new byte[] {1}, new byte[8], new byte[16], true),
                        List.of("@m", ".ring"),
                        List.of("bpf_rdonly_cast"),
                        wishes);
        return new AotFile(
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
                        new RequestedOption(
                                new ScriptOption("top", ScriptOption.Kind.UNSIGNED, "10", "rows"),
                                null),
                        new RequestedOption(
                                new ScriptOption("name", ScriptOption.Kind.STRING, "a", ""), "b")));
    }

    @Test
    void isReadAsItWasWritten() throws Exception {
        AotFile file = file();
        byte[] bytes = FileWriter.bytes(file);
        AotFile read = AotReader.read("a.sbt", bytes);
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
            AotFile read;
            try {
                read = AotReader.read("damaged", damaged);
            } catch (MalformedInputException e) {
                continue;
            }
            prepare(read);
        }
    }

    /** What can be read can be prepared, or is refused in words. */
    private static void prepare(AotFile file) throws Exception {
        TraceOptions options = TraceOptions.USUAL.unsafe(true);
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        try {
            AheadScript script =
                    AheadScript.of(
                            file, options, new TargetMachine(2, 0, 0, 0, 0, 6, 1), diagnostics);
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
        assertThatThrownBy(() -> AotReader.read("a.sbt", later))
                .hasMessageContaining("reads " + FileWriter.VERSION);
        byte[] other = bytes.clone();
        other[16] = 'x';
        assertThatThrownBy(() -> AotReader.read("a.sbt", other))
                .hasMessageContaining("compiled for");
        assertThatThrownBy(() -> AotReader.read("a.sbt", new byte[3]))
                .hasMessageContaining("no compiled script");
    }
}
