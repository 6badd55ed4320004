package sonde.lang.declare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.binary.btf.Btf;
import sonde.binary.btf.CHeader;
import sonde.bpf.link.KernelTypes;
import sonde.lang.bpftrace.syntax.TypeSyntax.Kind;
import sonde.lang.declare.FunctionSignature.SignatureParameter;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;

@Tag("kernel")
class KernelTypeSourceKernelTest {
    private final KernelTypeSource kernel = new KernelTypeSource();

    @BeforeEach
    void needsBtf() {
        assumeTrue(Files.exists(Path.of("/sys/kernel/btf/vmlinux")), "this kernel has no BTF");
    }

    @AfterEach
    void close() {
        kernel.close();
    }

    private StructType struct(String name) {
        return (StructType) Objects.requireNonNull(kernel.type(Kind.STRUCT, name), name);
    }

    private static ValueType type(StructType struct, String field) {
        return Objects.requireNonNull(struct.field(field), field).type();
    }

    @Test
    void readsTheTaskStructure() {
        StructType task = struct("task_struct");
        ArrayType comm = (ArrayType) type(task, "comm");
        assertThat(comm.count()).isEqualTo(16);
        // Without a sign since Linux 6.2 (-funsigned-char).
        assertThat(((IntType) comm.element()).isChar()).isTrue();
        assertThat(type(task, "pid")).isEqualTo(IntType.I32);
        assertThat(type(task, "parent")).isEqualTo(new PointerType(task, PointerSpace.KERNEL));
        StructType file = struct("file");
        assertThat(type(file, "f_op")).isInstanceOf(PointerType.class);
        assertThat(kernel.type(Kind.PLAIN, "size_t")).isEqualTo(IntType.U64);
        assertThat(kernel.type(Kind.PLAIN, "bool")).isEqualTo(new BoolType());
        assertThat(kernel.type(Kind.PLAIN, "unsigned int")).isEqualTo(IntType.U32);
        assertThat(kernel.type(Kind.ENUM, "pid_type")).isInstanceOf(EnumType.class);
        assertThat(kernel.type(Kind.STRUCT, "no_such_struct")).isNull();
        assertThat(kernel.type(Kind.UNION, "task_struct")).isNull();
    }

    @Test
    void findsConstants() {
        assertThat(kernel.constant("BPF_MAP_TYPE_HASH")).isEqualTo(1);
        assertThat(kernel.constant("PIDTYPE_TGID")).isEqualTo(1);
        assertThat(kernel.constant("NO_SUCH_CONSTANT")).isNull();
        assertThat(kernel.constant("")).isNull();
        assertThat(Objects.requireNonNull(kernel.enumerationOf("PIDTYPE_TGID")).name())
                .isEqualTo("pid_type");
    }

    @Test
    void readsFunctionsAndTracepoints() {
        FunctionSignature read =
                Objects.requireNonNull(kernel.function("vmlinux", "vfs_read", PointerSpace.TYPED));
        assertThat(read.parameters())
                .extracting(SignatureParameter::name)
                .containsExactly("file", "buf", "count", "pos");
        assertThat(read.parameters().getFirst().type())
                .isEqualTo(new PointerType(struct("file"), PointerSpace.TYPED));
        assertThat(ScriptTypeText.arguments(read))
                .startsWith("    struct file * file", "    char * buf", "    size_t count");
        assertThat(ScriptTypeText.result(read)).containsExactly("    ssize_t retval");
        assertThat(read.module()).isEqualTo("vmlinux");
        assertThat(Objects.requireNonNull(kernel.function("", "vfs_read")).btfId())
                .isEqualTo(read.btfId());
        assertThat(kernel.function("", "no_such_function")).isNull();
        assertThat(kernel.function("no_such_module", "vfs_read")).isNull();
        FunctionSignature tracepoint = Objects.requireNonNull(kernel.rawTracepoint("sched_switch"));
        assertThat(tracepoint.parameters())
                .extracting(SignatureParameter::name)
                .startsWith("preempt", "prev", "next");
        assertThat(tracepoint.parameters().get(1).type())
                .isEqualTo(new PointerType(struct("task_struct"), PointerSpace.TYPED));
        assertThat(kernel.rawTracepoint("no_such")).isNull();
    }

    @Test
    void readsIterators() {
        StructType task = Objects.requireNonNull(kernel.iterator("task"));
        assertThat(type(task, "task"))
                .isEqualTo(new PointerType(struct("task_struct"), PointerSpace.TYPED));
        assertThat(task.fields()).extracting(TypeField::name).containsExactly("meta", "task");
        assertThat(kernel.iterator("no_such")).isNull();
    }

    @Test
    void spellsDefinitions() {
        assertThat(kernel.definition(Kind.STRUCT, "list_head"))
                .isEqualTo(
                        "vmlinux: struct list_head {\n\tstruct list_head *next;\n"
                                + "\tstruct list_head *prev;\n};");
        assertThat(kernel.tags()).contains("struct task_struct", "enum pid_type");
        assertThat(kernel.definition(Kind.ENUM, "no_such")).isNull();
    }

    /** The header that gcc lays out as the kernel lies (BtfKernelTest) is read by our own C. */
    @Test
    void agreesWithTheHeader() throws IOException {
        StringBuilder text = new StringBuilder();
        CHeader.write(Btf.read(KernelTypes.file("/sys/kernel/btf/vmlinux")), text);
        Scripts.Result header = Scripts.plain(text.toString(), TypeSource.NONE);
        assertThat(header.said()).isEmpty();
        List<String> names = new ArrayList<>(kernel.tags());
        names.removeIf(name -> !name.startsWith("struct ") || name.contains("___"));
        Collections.shuffle(names, new Random(7));
        for (String name : names.subList(0, 1000)) {
            String plain = name.substring("struct ".length());
            StructType theirs =
                    (StructType)
                            Objects.requireNonNull(
                                    header.declarations().type(Kind.STRUCT, plain), name);
            assertThat(places(struct(plain), 0)).as(name).isEqualTo(places(theirs, 0));
        }
    }

    private static String places(StructType struct, int depth) {
        StringBuilder out = new StringBuilder(struct + " " + struct.sizeBytes() + "\n");
        for (TypeField field : struct.fields()) {
            out.append(" ".repeat(depth)).append(field.name()).append(' ');
            out.append(field.bitOffset()).append(' ').append(field.bits()).append(' ');
            // What follows ___ in a name is CO-RE's, where a name has two types; gcc's char has a
            // sign; enumerations without a name are numbers in BTF.
            String type = field.type().toString().replaceAll("___\\d+", "");
            out.append(type.replace("uint", "int").replaceAll("^enum $", "int32")).append('\n');
            if (field.type() instanceof StructType inner && inner.name().isEmpty()) {
                out.append(places(inner, depth + 1));
            }
        }
        return out.toString();
    }

    @Test
    void looksUpQuickly() {
        long start = System.nanoTime();
        kernel.constant("TASK_COMM_LEN");
        kernel.type(Kind.STRUCT, "task_struct");
        long millis = (System.nanoTime() - start) / 1_000_000;
        // A cold look-up takes 40 to 80 ms on two slow cores.
        assertThat(millis).isLessThan(1000);
        System.getLogger("test").log(System.Logger.Level.INFO, "cold look-up: {0} ms", millis);
    }

    @Test
    void readsTracepoints() {
        StructType entry = TracepointTypes.arguments(kernel, "syscalls", "sys_enter_openat");
        assumeTrue(entry != null, "there is no tracefs");
        assertThat(type(Objects.requireNonNull(entry), "filename"))
                .isEqualTo(new PointerType(LinuxBasicTypes.CHAR, PointerSpace.USER));
        StructType sched =
                Objects.requireNonNull(TracepointTypes.arguments("sched", "sched_switch"));
        assertThat(type(sched, "prev_comm")).isEqualTo(new ArrayType(LinuxBasicTypes.CHAR, 16));
        assertThat(type(sched, "prev_state")).isEqualTo(IntType.I64);
        assertThat(TracepointTypes.declarations("sched", "sched_switch"))
                .contains("char prev_comm[16]", "int prev_prio");
        StructType sleep =
                Objects.requireNonNull(
                        TracepointTypes.arguments(kernel, "syscalls", "sys_enter_nanosleep"));
        PointerType time = (PointerType) type(sleep, "rqtp");
        assertThat(((StructType) time.to()).field("tv_sec")).isNotNull();
    }

    @Test
    void readsEveryTracepoint() {
        assumeTrue(Files.exists(Path.of("/sys/kernel/tracing/events")), "there is no tracefs");
        List<String> odd = new ArrayList<>();
        sonde.probe.tracefs.Tracefs.find()
                .ifPresent(tracefs -> {
                    for (String system : tracefs.list("events")) {
                        for (String event : tracefs.list("events/" + system)) {
                            StructType s = TracepointTypes.arguments(kernel, system, event);
                            for (TypeField f : s == null ? List.<TypeField>of() : s.fields()) {
                                if (f.type().align() == 0) {
                                    odd.add(system + ":" + event + " " + f);
                                }
                            }
                        }
                    }
                });
        assertThat(odd).isEmpty();
    }
}
