package sonde.lang.declare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import sonde.lang.bpftrace.syntax.TypeSyntax.Kind;
import sonde.lang.declare.FunctionSignature.SignatureParameter;
import sonde.lang.type.StructType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.FloatType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

class ScriptTypeTextTest {
    private static ValueType type(String name) {
        return Objects.requireNonNull(ScriptTypeText.type(name, TypeSource.NONE), name);
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
        assertThat(ScriptTypeText.array(type("string"), 16)).isEqualTo(new TextType(16));
        assertThat(ScriptTypeText.array(type("buffer"), 8)).isEqualTo(new BytesType(8));
        assertThat(ScriptTypeText.array(type("int8"), 8)).isEqualTo(new ArrayType(IntType.I8, 8));
    }

    @Test
    void knowsTheTypesOfC() {
        assertThat(type("unsigned int")).isEqualTo(IntType.U32);
        assertThat(type("long unsigned int")).isEqualTo(IntType.U64);
        assertThat(type("char")).isEqualTo(LinuxBasicTypes.CHAR);
        assertThat(type("size_t")).isEqualTo(IntType.U64);
        assertThat(type("u32")).isEqualTo(IntType.U32);
        assertThat(type("__u64")).isEqualTo(IntType.U64);
        assertThat(type("int16_t")).isEqualTo(new IntType(2, true));
        assertThat(type("__be16")).isEqualTo(IntType.U16);
        assertThat(type("pid_t")).isEqualTo(IntType.I32);
        assertThat(type("void *")).isEqualTo(new PointerType(new VoidType(), PointerSpace.KERNEL));
        for (String none : List.of("", "nosuch_t", "int x y", "unsigned signed", "struct", "*")) {
            assertThat(ScriptTypeText.type(none, TypeSource.NONE)).as(none).isNull();
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
        StructType struct =
                (StructType)
                        Objects.requireNonNull(
                                Scripts.plain(text, TypeSource.NONE)
                                        .declarations()
                                        .type(Kind.STRUCT, "a"));
        assertThat(ScriptTypeText.describe(struct)).isEqualTo(text);
    }

    @Test
    void listsSignatures() {
        FunctionSignature signature =
                new FunctionSignature(
                        List.of(
                                new SignatureParameter("x", new FloatType(8), "double"),
                                new SignatureParameter("n", IntType.I32, "int")),
                        new VoidType(),
                        "void",
                        0,
                        "vmlinux");
        assertThat(ScriptTypeText.arguments(signature))
                .containsExactly("    double x", "    int n");
        assertThat(ScriptTypeText.registers(signature)).containsExactly("    int arg0");
        assertThat(ScriptTypeText.result(signature)).isEmpty();
    }

    @Test
    void knowsUsualConstants() {
        assertThat(LinuxConstants.value("AF_INET6")).isEqualTo(10);
        assertThat(LinuxConstants.value("ENOENT")).isEqualTo(2);
        assertThat(LinuxConstants.value("PF_KTHREAD")).isEqualTo(0x200000);
        assertThat(LinuxConstants.value("TASK_UNINTERRUPTIBLE")).isEqualTo(2);
        assertThat(LinuxConstants.value("ULONG_MAX")).isEqualTo(-1);
        assertThat(LinuxConstants.value("S_IFMT")).isEqualTo(0xf000);
        assertThat(LinuxConstants.value("SIGKILL")).isEqualTo(9);
        assertThat(LinuxConstants.value("MINORBITS")).isEqualTo(20);
        assertThat(LinuxConstants.value("__NR_getpid"))
                .isEqualTo(LinuxConstants.value("SYS_getpid"));
        assertThat(LinuxConstants.value("NOSUCH")).isNull();
        assertThat(LinuxConstants.value("__NR_nosuch")).isNull();
    }
}
