package sonde.lang.declare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import sonde.lang.bpftrace.syntax.TypeSyntax.Kind;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

class TypeNamesTest {
    private static Type type(String name) {
        return Objects.requireNonNull(TypeNames.type(name, TypeSource.NONE), name);
    }

    @Test
    void knowsTheWordsOfTheLanguage() {
        for (String word :
                List.of(
                        "bool",
                        "int8",
                        "int64",
                        "uint16",
                        "void",
                        "ksym_t",
                        "usym_t",
                        "timestamp",
                        "macaddr_t",
                        "cgroup_path_t",
                        "username",
                        "count_t",
                        "sum_t",
                        "usum_t",
                        "min_t",
                        "umax_t",
                        "avg_t",
                        "ustats_t",
                        "hist_t",
                        "lhist_t",
                        "tseries_t")) {
            assertThat(type(word).toString()).isEqualTo(word);
        }
        assertThat(TypeNames.array(type("string"), 16)).isEqualTo(new Type.Text(16));
        assertThat(TypeNames.array(type("buffer"), 8)).isEqualTo(new Type.Bytes(8));
        assertThat(TypeNames.array(type("int8"), 8)).isEqualTo(new Type.Array(Int.I8, 8));
    }

    @Test
    void knowsTheTypesOfC() {
        assertThat(type("unsigned int")).isEqualTo(Int.U32);
        assertThat(type("long unsigned int")).isEqualTo(Int.U64);
        assertThat(type("char")).isEqualTo(BasicTypes.CHAR);
        assertThat(type("size_t")).isEqualTo(Int.U64);
        assertThat(type("u32")).isEqualTo(Int.U32);
        assertThat(type("__u64")).isEqualTo(Int.U64);
        assertThat(type("int16_t")).isEqualTo(new Int(2, true));
        assertThat(type("__be16")).isEqualTo(Int.U16);
        assertThat(type("pid_t")).isEqualTo(Int.I32);
        assertThat(type("void *")).isEqualTo(new Type.Pointer(new Type.Void(), Type.Space.KERNEL));
        for (String none : List.of("", "nosuch_t", "int x y", "unsigned signed", "struct", "*")) {
            assertThat(TypeNames.type(none, TypeSource.NONE)).as(none).isNull();
        }
    }

    @Test
    void describesStructures() {
        String text =
                """
                struct a {
                \tstruct a *next;
                \tchar comm[16];
                \tunion {
                \t\tunsigned long x: 3;
                \t\tvoid *p[2];
                \t};
                \tstruct {
                \t\tshort z;
                \t} inner;
                };\
                """;
        Struct struct =
                (Struct)
                        Objects.requireNonNull(
                                Scripts.plain(text, TypeSource.NONE)
                                        .declarations()
                                        .type(Kind.STRUCT, "a"));
        assertThat(TypeNames.describe(struct)).isEqualTo(text);
    }

    @Test
    void listsSignatures() {
        Signature signature =
                new Signature(
                        List.of(
                                new Signature.Parameter("x", new Type.Float(8), "double"),
                                new Signature.Parameter("n", Int.I32, "int")),
                        new Type.Void(),
                        "void",
                        0,
                        "vmlinux");
        assertThat(TypeNames.arguments(signature)).containsExactly("    double x", "    int n");
        assertThat(TypeNames.registers(signature)).containsExactly("    int arg0");
        assertThat(TypeNames.result(signature)).isEmpty();
    }

    @Test
    void knowsUsualConstants() {
        assertThat(Constants.value("AF_INET6")).isEqualTo(10);
        assertThat(Constants.value("ENOENT")).isEqualTo(2);
        assertThat(Constants.value("PF_KTHREAD")).isEqualTo(0x200000);
        assertThat(Constants.value("TASK_UNINTERRUPTIBLE")).isEqualTo(2);
        assertThat(Constants.value("ULONG_MAX")).isEqualTo(-1);
        assertThat(Constants.value("S_IFMT")).isEqualTo(0xf000);
        assertThat(Constants.value("SIGKILL")).isEqualTo(9);
        assertThat(Constants.value("MINORBITS")).isEqualTo(20);
        assertThat(Constants.value("__NR_getpid")).isEqualTo(Constants.value("SYS_getpid"));
        assertThat(Constants.value("NOSUCH")).isNull();
        assertThat(Constants.value("__NR_nosuch")).isNull();
    }
}
