package sonde.bpf.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;
import sonde.binary.btf.BtfType.Member;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.core.CoreRelocator.RelocatedValue;

/** Questions about made-up kernels. */
final class CoreRelocatorTest {
    private static final BtfType INT = new BtfType.Int("int", 4, IntEncoding.SIGNED, 0, 32);
    private static final BtfType LONG =
            new BtfType.Int("unsigned long", 8, IntEncoding.UNSIGNED, 0, 64);
    private static final BtfType UINT =
            new BtfType.Int("unsigned int", 4, IntEncoding.UNSIGNED, 0, 32);

    private static BtfType struct(String name, int bytes, Member... members) {
        return new BtfType.Struct(name, false, bytes, List.of(members));
    }

    private static Btf btf(BtfType... types) throws MalformedInputException {
        BtfWriter writer = new BtfWriter();
        for (BtfType type : types) {
            writer.add(type);
        }
        return Btf.read(Input.of("made", MemorySegment.ofArray(writer.bytes())));
    }

    private static RelocatedValue ask(Btf local, Btf target, int root, String access, CoreKind kind)
            throws Exception {
        return new CoreRelocator(local::type, TargetTypes.of(target)).resolve(root, access, kind);
    }

    @Test
    void aMemberHasMovedAndGrown() throws Exception {
        Btf local = btf(UINT, struct("task", 8, new Member("pid", 1, 32, 0)));
        Btf target = btf(UINT, LONG, struct("task", 64, new Member("pid", 2, 128, 0)));
        RelocatedValue outcome = ask(local, target, 2, "0:0", CoreKind.FIELD_BYTE_OFFSET);
        assertThat(outcome.before()).isEqualTo(4);
        assertThat(outcome.after()).isEqualTo(16);
        assertThat(outcome.widthBefore()).isEqualTo(4);
        assertThat(outcome.widthAfter()).isEqualTo(8);
        assertThat(outcome.isAdjustable()).isTrue();
        assertThat(outcome.text()).isEqualTo("FIELD_BYTE_OFFSET of struct task.pid");
    }

    @Test
    void aMemberHasMovedIntoAnUnnamedUnion() throws Exception {
        Btf local = btf(INT, struct("task___old", 8, new Member("pid", 1, 0, 0)));
        Btf target =
                btf(
                        INT,
                        new BtfType.Struct("", true, 4, List.of(new Member("pid", 1, 0, 0))),
                        struct("task", 32, new Member("a", 1, 0, 0), new Member("", 2, 64, 0)));
        assertThat(ask(local, target, 2, "0:0", CoreKind.FIELD_BYTE_OFFSET).after()).isEqualTo(8);
        assertThat(ask(local, target, 2, "0:0", CoreKind.FIELD_EXISTS).after()).isEqualTo(1);
        assertThat(ask(local, target, 2, "0", CoreKind.TYPE_SIZE).after()).isEqualTo(32);
        assertThat(ask(local, target, 2, "0", CoreKind.TYPE_ID_TARGET).after()).isEqualTo(3);
        assertThat(ask(local, target, 2, "0", CoreKind.TYPE_ID_LOCAL).after()).isEqualTo(2);
    }

    @Test
    void whatIsMissing() throws Exception {
        Btf local = btf(INT, struct("task", 8, new Member("pid", 1, 0, 0)));
        Btf without = btf(INT, struct("task", 8, new Member("tid", 1, 0, 0)));
        assertThat(ask(local, without, 2, "0:0", CoreKind.FIELD_EXISTS).after()).isZero();
        assertThat(ask(local, without, 2, "0:0", CoreKind.FIELD_EXISTS).isMissing()).isFalse();
        assertThat(ask(local, without, 2, "0:0", CoreKind.FIELD_BYTE_OFFSET).isMissing()).isTrue();
        Btf none = btf(INT);
        assertThat(ask(local, none, 2, "0", CoreKind.TYPE_EXISTS).after()).isZero();
        // A member of another kind is another member.
        Btf other = btf(INT, new BtfType.Ptr(1), struct("task", 8, new Member("pid", 2, 0, 0)));
        assertThat(ask(local, other, 2, "0:0", CoreKind.FIELD_EXISTS).after()).isZero();
    }

    @Test
    void severalCandidatesMustAgree() throws Exception {
        Btf local = btf(INT, struct("task", 8, new Member("pid", 1, 0, 0)));
        BtfType one = struct("task", 8, new Member("pid", 1, 32, 0));
        Btf agree = btf(INT, one, struct("task___b", 16, new Member("pid", 1, 32, 0)));
        assertThat(ask(local, agree, 2, "0:0", CoreKind.FIELD_BYTE_OFFSET).after()).isEqualTo(4);
        Btf differ = btf(INT, one, struct("task___b", 16, new Member("pid", 1, 64, 0)));
        assertThat(ask(local, differ, 2, "0:0", CoreKind.FIELD_BYTE_OFFSET).problem())
                .contains("answer differently");
    }

    @Test
    void bitFields() throws Exception {
        Btf local = btf(UINT, struct("s", 4, new Member("flag", 1, 0, 1)));
        Btf target = btf(UINT, struct("s", 8, new Member("flag", 1, 37, 3)));
        assertThat(ask(local, target, 2, "0:0", CoreKind.FIELD_BYTE_OFFSET).after()).isEqualTo(4);
        assertThat(ask(local, target, 2, "0:0", CoreKind.FIELD_BYTE_SIZE).after()).isEqualTo(4);
        assertThat(ask(local, target, 2, "0:0", CoreKind.FIELD_LSHIFT_U64).after())
                .isEqualTo(64 - (37 + 3 - 32));
        assertThat(ask(local, target, 2, "0:0", CoreKind.FIELD_RSHIFT_U64).after()).isEqualTo(61);
        assertThat(ask(local, target, 2, "0:0", CoreKind.FIELD_SIGNED).after()).isZero();
    }

    @Test
    void elementsAndEnumerators() throws Exception {
        Btf local =
                btf(
                        INT,
                        new BtfType.Array(1, 1, 4),
                        struct("s", 16, new Member("a", 2, 0, 0)),
                        new BtfType.Enum(
                                "e", 4, false, List.of(new BtfType.Enumerator("A___x", 1))));
        Btf target =
                btf(
                        INT,
                        new BtfType.Array(1, 1, 2),
                        struct("s", 16, new Member("a", 2, 64, 0)),
                        new BtfType.Enum("e", 4, false, List.of(new BtfType.Enumerator("A", 7))));
        assertThat(ask(local, target, 3, "0:0:1", CoreKind.FIELD_BYTE_OFFSET).after())
                .isEqualTo(12);
        assertThat(ask(local, target, 3, "0:0:3", CoreKind.FIELD_BYTE_OFFSET).isMissing()).isTrue();
        assertThat(ask(local, target, 3, "2:0:1", CoreKind.FIELD_BYTE_OFFSET).after())
                .isEqualTo(44);
        assertThat(ask(local, target, 4, "0", CoreKind.ENUM_VALUE).after()).isEqualTo(7);
        assertThat(ask(local, target, 4, "0", CoreKind.ENUM_VALUE_EXISTS).after()).isEqualTo(1);
    }

    @Test
    void typesMatchByNameSizeAndMembers() throws Exception {
        Btf local = btf(INT, struct("s", 4, new Member("a", 1, 0, 0)));
        Btf same = btf(INT, struct("s", 8, new Member("b", 1, 0, 0), new Member("a", 1, 32, 0)));
        Btf other = btf(UINT, struct("s", 4, new Member("a", 1, 0, 0)));
        assertThat(ask(local, same, 2, "0", CoreKind.TYPE_MATCHES).after()).isEqualTo(1);
        assertThat(ask(local, other, 2, "0", CoreKind.TYPE_MATCHES).after()).isZero();
        assertThat(ask(local, other, 2, "0", CoreKind.TYPE_EXISTS).after()).isEqualTo(1);
    }

    @Test
    void enumeratorsOfSixtyFourBits() throws Exception {
        BtfType.Enumerator low = new BtfType.Enumerator("A", 1);
        BtfType.Enumerator high = new BtfType.Enumerator("A", 5L << 40);
        BtfType.Enumerator more = new BtfType.Enumerator("B", -1);
        Btf narrow = btf(new BtfType.Enum("e", 4, false, List.of(low)));
        Btf wide = btf(new BtfType.Enum("e___w", 8, false, List.of(low)));
        Btf kernel = btf(new BtfType.Enum("e", 8, true, List.of(more, high)));
        assertThat(ask(narrow, kernel, 1, "0", CoreKind.ENUM_VALUE).after()).isEqualTo(5L << 40);
        assertThat(ask(wide, kernel, 1, "0", CoreKind.ENUM_VALUE).after()).isEqualTo(5L << 40);
        assertThat(ask(kernel, kernel, 1, "0", CoreKind.ENUM_VALUE).after()).isEqualTo(-1);
        assertThat(ask(wide, kernel, 1, "0", CoreKind.TYPE_MATCHES).after()).isEqualTo(1);
        assertThat(ask(narrow, kernel, 1, "0", CoreKind.TYPE_MATCHES).after()).isZero();
        assertThat(ask(kernel, narrow, 1, "0", CoreKind.ENUM_VALUE_EXISTS).after()).isZero();
    }

    @Test
    void behindPointersNamesAreEnough() throws Exception {
        Btf local =
                btf(
                        new BtfType.Ptr(2),
                        new BtfType.Fwd("inner", false),
                        struct("s", 8, new Member("to___x", 1, 0, 0)));
        Btf defined =
                btf(
                        INT,
                        new BtfType.Ptr(3),
                        struct("inner", 4, new Member("a", 1, 0, 0)),
                        struct("s", 8, new Member("to", 2, 0, 0)));
        Btf union =
                btf(
                        new BtfType.Ptr(2),
                        new BtfType.Fwd("inner", true),
                        struct("s", 8, new Member("to", 1, 0, 0)));
        assertThat(ask(local, defined, 3, "0", CoreKind.TYPE_MATCHES).after()).isEqualTo(1);
        assertThat(ask(local, union, 3, "0", CoreKind.TYPE_MATCHES).after()).isZero();
    }

    @Test
    void questionsThatMakeNoSense() throws Exception {
        Btf local = btf(INT, struct("s", 4, new Member("a", 1, 0, 0)));
        for (String access : List.of("", "x", "0:7", "0:0:0", "0:-1", "99999999999", "0:")) {
            assertThatThrownBy(() -> ask(local, local, 2, access, CoreKind.FIELD_BYTE_OFFSET))
                    .as(access)
                    .isInstanceOf(MalformedInputException.class);
        }
        Btf loop = btf(new BtfType.Typedef("t", 1), struct("s", 4, new Member("a", 1, 0, 0)));
        assertThatThrownBy(() -> ask(loop, loop, 2, "0:0", CoreKind.FIELD_BYTE_OFFSET))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining("leads back to itself");
    }
}
