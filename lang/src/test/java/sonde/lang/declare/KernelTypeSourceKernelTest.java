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
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;

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

    private Struct struct(String name) {
        return (Struct) Objects.requireNonNull(kernel.type(Kind.STRUCT, name), name);
    }

    private static Type type(Struct struct, String field) {
        return Objects.requireNonNull(struct.field(field), field).type();
    }

    @Test
    void readsTheTaskStructure() {
        Struct task = struct("task_struct");
        Type.Array comm = (Type.Array) type(task, "comm");
        assertThat(comm.count()).isEqualTo(16);
        // Without a sign since Linux 6.2 (-funsigned-char).
        assertThat(((Int) comm.element()).isChar()).isTrue();
        assertThat(type(task, "pid")).isEqualTo(Int.I32);
        assertThat(type(task, "parent")).isEqualTo(new Type.Pointer(task, Space.KERNEL));
        Struct file = struct("file");
        assertThat(type(file, "f_op")).isInstanceOf(Type.Pointer.class);
        assertThat(kernel.type(Kind.PLAIN, "size_t")).isEqualTo(Int.U64);
        assertThat(kernel.type(Kind.PLAIN, "bool")).isEqualTo(new Type.Bool());
        assertThat(kernel.type(Kind.PLAIN, "unsigned int")).isEqualTo(Int.U32);
        assertThat(kernel.type(Kind.ENUM, "pid_type")).isInstanceOf(Type.Enum.class);
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
        Signature read =
                Objects.requireNonNull(kernel.function("vmlinux", "vfs_read", Space.TYPED));
        assertThat(read.parameters())
                .extracting(Signature.Parameter::name)
                .containsExactly("file", "buf", "count", "pos");
        assertThat(read.parameters().getFirst().type())
                .isEqualTo(new Type.Pointer(struct("file"), Space.TYPED));
        assertThat(TypeNames.arguments(read))
                .startsWith("    struct file * file", "    char * buf", "    size_t count");
        assertThat(TypeNames.result(read)).containsExactly("    ssize_t retval");
        assertThat(read.module()).isEqualTo("vmlinux");
        assertThat(Objects.requireNonNull(kernel.function("", "vfs_read")).btfId())
                .isEqualTo(read.btfId());
        assertThat(kernel.function("", "no_such_function")).isNull();
        assertThat(kernel.function("no_such_module", "vfs_read")).isNull();
        Signature tracepoint = Objects.requireNonNull(kernel.rawTracepoint("sched_switch"));
        assertThat(tracepoint.parameters())
                .extracting(Signature.Parameter::name)
                .startsWith("preempt", "prev", "next");
        assertThat(tracepoint.parameters().get(1).type())
                .isEqualTo(new Type.Pointer(struct("task_struct"), Space.TYPED));
        assertThat(kernel.rawTracepoint("no_such")).isNull();
    }

    @Test
    void readsIterators() {
        Struct task = Objects.requireNonNull(kernel.iterator("task"));
        assertThat(type(task, "task"))
                .isEqualTo(new Type.Pointer(struct("task_struct"), Space.TYPED));
        assertThat(task.fields()).extracting(Field::name).containsExactly("meta", "task");
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
            Struct theirs =
                    (Struct)
                            Objects.requireNonNull(
                                    header.declarations().type(Kind.STRUCT, plain), name);
            assertThat(places(struct(plain), 0)).as(name).isEqualTo(places(theirs, 0));
        }
    }

    private static String places(Struct struct, int depth) {
        StringBuilder out = new StringBuilder(struct + " " + struct.sizeBytes() + "\n");
        for (Field field : struct.fields()) {
            out.append(" ".repeat(depth)).append(field.name()).append(' ');
            out.append(field.bitOffset()).append(' ').append(field.bits()).append(' ');
            // What follows ___ in a name is CO-RE's, where a name has two types; gcc's char has a
            // sign; enumerations without a name are numbers in BTF.
            String type = field.type().toString().replaceAll("___\\d+", "");
            out.append(type.replace("uint", "int").replaceAll("^enum $", "int32")).append('\n');
            if (field.type() instanceof Struct inner && inner.name().isEmpty()) {
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
        Struct entry = TracepointTypes.arguments(kernel, "syscalls", "sys_enter_openat");
        assumeTrue(entry != null, "there is no tracefs");
        assertThat(type(Objects.requireNonNull(entry), "filename"))
                .isEqualTo(new Type.Pointer(BasicTypes.CHAR, Space.USER));
        Struct sched = Objects.requireNonNull(TracepointTypes.arguments("sched", "sched_switch"));
        assertThat(type(sched, "prev_comm")).isEqualTo(new Type.Array(BasicTypes.CHAR, 16));
        assertThat(type(sched, "prev_state")).isEqualTo(Int.I64);
        assertThat(TracepointTypes.declarations("sched", "sched_switch"))
                .contains("char prev_comm[16]", "int prev_prio");
        Struct sleep =
                Objects.requireNonNull(
                        TracepointTypes.arguments(kernel, "syscalls", "sys_enter_nanosleep"));
        Type.Pointer time = (Type.Pointer) type(sleep, "rqtp");
        assertThat(((Struct) time.to()).field("tv_sec")).isNotNull();
    }

    @Test
    void readsEveryTracepoint() {
        assumeTrue(Files.exists(Path.of("/sys/kernel/tracing/events")), "there is no tracefs");
        List<String> odd = new ArrayList<>();
        sonde.probe.tracefs.Tracefs.find()
                .ifPresent(tracefs -> {
                    for (String system : tracefs.list("events")) {
                        for (String event : tracefs.list("events/" + system)) {
                            Struct s = TracepointTypes.arguments(kernel, system, event);
                            for (Field f : s == null ? List.<Field>of() : s.fields()) {
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
