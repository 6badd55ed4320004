package sonde.lang.declare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.lang.bpftrace.syntax.TypeSyntax.Kind;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.recording.ftrace.EventFormat;

class TracepointTypesTest {
    private static final StructType TIMESPEC =
            new StructType(
                    "__kernel_timespec",
                    false,
                    16,
                    8,
                    () ->
                            List.of(
                                    new TypeField("tv_sec", IntType.I64, 0),
                                    new TypeField("tv_nsec", IntType.I64, 8)));

    private static final TypeSource KERNEL =
            new TypeSource() {
                @Override
                public @Nullable ValueType type(Kind kind, String name) {
                    return switch (name) {
                        case "__kernel_timespec" -> TIMESPEC;
                        case "migrate_mode" -> new EnumType(name, 4, false, java.util.Map.of());
                        default -> null;
                    };
                }

                @Override
                public @Nullable Long constant(String enumerator) {
                    return null;
                }
            };

    private static final String TEXT =
            """
            name: %s
            ID: 321
            format:
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
            \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

            \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
            \tfield:pid_t prev_pid;\toffset:24;\tsize:8;\tsigned:0;
            \tfield:const char * filename;\toffset:32;\tsize:8;\tsigned:0;
            \tfield:struct __kernel_timespec * rqtp;\toffset:40;\tsize:8;\tsigned:0;
            \tfield:__data_loc char[] name;\toffset:48;\tsize:4;\tsigned:0;
            \tfield:__rel_loc u32[] ids;\toffset:52;\tsize:4;\tsigned:0;
            \tfield:enum migrate_mode mode;\toffset:56;\tsize:4;\tsigned:0;
            \tfield:bool ok;\toffset:60;\tsize:1;\tsigned:0;
            \tfield:__u8 saddr[4];\toffset:61;\tsize:4;\tsigned:0;
            \tfield:unsigned long args[6];\toffset:72;\tsize:48;\tsigned:0;
            \tfield:dev_t dev;\toffset:120;\tsize:4;\tsigned:0;
            \tfield:nosuch_t odd;\toffset:124;\tsize:2;\tsigned:1;

            print fmt: "x"
            """;

    private static StructType arguments(String system, String name) throws MalformedInputException {
        return TracepointTypes.arguments(
                KERNEL, system, EventFormat.parse(TEXT.formatted(name), 8));
    }

    private static TypeField field(StructType struct, String name) {
        return Objects.requireNonNull(struct.field(name));
    }

    @Test
    void readsAFormat() throws MalformedInputException {
        StructType s = arguments("sched", "sched_switch");
        assertThat(s.fields().getFirst().name()).isEqualTo("common_type");
        assertThat(s.sizeBytes()).isEqualTo(126);
        assertThat(field(s, "common_pid").place()).isEqualTo(FieldPlace.CLOSED);
        assertThat(field(s, "prev_comm").type()).isEqualTo(new ArrayType(LinuxBasicTypes.CHAR, 16));
        assertThat(field(s, "prev_comm").offsetBytes()).isEqualTo(8);
        assertThat(field(s, "prev_pid").type()).isEqualTo(IntType.U64);
        assertThat(field(s, "filename").type())
                .isEqualTo(new PointerType(LinuxBasicTypes.CHAR, PointerSpace.KERNEL));
        assertThat(field(s, "rqtp").type())
                .isEqualTo(new PointerType(TIMESPEC, PointerSpace.KERNEL));
        assertThat(field(s, "name"))
                .isEqualTo(
                        new TypeField(
                                "name",
                                new ArrayType(LinuxBasicTypes.CHAR, 0),
                                48 * 8,
                                0,
                                FieldPlace.DATA_LOC));
        assertThat(field(s, "ids").type()).isEqualTo(new ArrayType(IntType.U32, 0));
        assertThat(field(s, "ids").place()).isEqualTo(FieldPlace.RELATIVE_LOC);
        assertThat(field(s, "mode").type()).isInstanceOf(EnumType.class);
        assertThat(field(s, "ok").type()).isEqualTo(new BoolType());
        assertThat(field(s, "saddr").type()).isEqualTo(new ArrayType(IntType.U8, 4));
        assertThat(field(s, "args").type()).isEqualTo(new ArrayType(IntType.U64, 6));
        assertThat(field(s, "dev").type()).isEqualTo(IntType.U32);
        assertThat(field(s, "odd").type()).isEqualTo(new IntType(2, true));
    }

    @Test
    void knowsThatSystemCallsPointIntoTheProcess() throws MalformedInputException {
        StructType s = arguments("syscalls", "sys_enter_openat");
        assertThat(field(s, "filename").type())
                .isEqualTo(new PointerType(LinuxBasicTypes.CHAR, PointerSpace.USER));
        assertThat(field(s, "prev_pid").type()).isEqualTo(IntType.I32);
        assertThat(ScriptTypeText.arguments(s))
                .contains("    char *filename", "    char prev_comm[16]");
        assertThat(field(arguments("syscalls", "sys_exit_openat"), "rqtp").type())
                .isEqualTo(new PointerType(TIMESPEC, PointerSpace.KERNEL));
    }

    @Test
    void findsNothingUnderOtherNames() {
        assertThat(TracepointTypes.arguments(KERNEL, "..", "..")).isNull();
        assertThat(TracepointTypes.arguments(KERNEL, "nosuch", "event")).isNull();
        assertThat(TracepointTypes.declarations("", "")).isEmpty();
    }
}
