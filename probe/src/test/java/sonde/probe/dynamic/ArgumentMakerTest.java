package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.TokenOrigin;
import sonde.probe.dynamic.FetchArgument.StaticAddresses;
import sonde.probe.dynamic.ProbeOperand.CalculatedOperand;
import sonde.probe.dynamic.ProbeOperand.HeldOperand;
import sonde.probe.dynamic.ProbeOperand.StoredOperand;
import sonde.symbol.ctype.NamedTypes;
import sonde.symbol.ctype.NamedTypes.NameSpace;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.Keyword;
import sonde.symbol.ctype.SourceType.Kind;
import sonde.symbol.ctype.SourceType.Member;
import sonde.symbol.ctype.SourceType.NumberType;

/** Source expressions as the kernel's fetch arguments; types made by hand. */
final class ArgumentMakerTest {
    private static final SourceType INT = new NumberType("int", 4, Kind.SIGNED, true);
    private static final SourceType FLOAT = new NumberType("float", 4, Kind.FLOATING, true);
    private static final SourceType U64 = new NumberType("unsigned long", 8, Kind.UNSIGNED, false);
    private static final SourceType CHAR = new NumberType("char", 1, Kind.CHARACTER, true);
    private static final SourceType.Structure INNER =
            new SourceType.Structure(
                    Keyword.STRUCT,
                    "inner",
                    8,
                    () ->
                            List.of(
                                    member("b", INT, 0, 0),
                                    member("flag", INT, 35, 3),
                                    member("wide", U64, 62, 2)));
    private static final SourceType.Structure OUTER =
            new SourceType.Structure(Keyword.STRUCT, "outer", 96, ArgumentMakerTest::outer);

    private static Member member(String name, SourceType type, long bitOffset, int bits) {
        return new Member(name, () -> type, bitOffset, bits);
    }

    private static SourceType pointer(SourceType target) {
        return SourceType.Pointer.to(target, 8, false);
    }

    private static List<Member> outer() {
        SourceType unnamed =
                new SourceType.Structure(
                        Keyword.UNION, "", 8, () -> List.of(member("low", INT, 0, 0)));
        return List.of(
                member("next", pointer(OUTER), 0, 0),
                member("in", new SourceType.Array(INNER, 4), 64, 0),
                member("name", new SourceType.Array(CHAR, 16), 320, 0),
                member("", unnamed, 448, 0),
                member("text", pointer(CHAR), 512, 0),
                member("many", new SourceType.Array(INT, 3), 576, 0));
    }

    /** p is a pointer in %di, s a structure on the stack, i a number in %bx. */
    private static final class Here implements ExpressionScope {
        @Override
        public ProbeOperand variable(String text, int at, String name) throws ProbeException {
            return switch (name) {
                case "p" -> new HeldOperand("%di", pointer(OUTER), 0, 0);
                case "s" ->
                        new StoredOperand(
                                new FetchArgument(new TokenOrigin("%sp"), 16), OUTER, 0, 0, false);
                case "i" -> new HeldOperand("%bx", INT, 0, 0);
                case "real", "complex" ->
                        new StoredOperand(
                                new FetchArgument(new TokenOrigin("%sp"), 8),
                                new NumberType(
                                        name.equals("real") ? "double" : "complex float",
                                        8,
                                        Kind.FLOATING,
                                        true),
                                0,
                                0,
                                false);
                case "reals" ->
                        new HeldOperand(
                                "%ax",
                                new SourceType.Structure(
                                        Keyword.STRUCT,
                                        "reals",
                                        8,
                                        () ->
                                                List.of(
                                                        member("x", FLOAT, 0, 0),
                                                        member("y", FLOAT, 32, 0))),
                                0,
                                0);
                case "inner" -> new HeldOperand("%ax", pointer(INNER), 0, 0);
                case "halves" ->
                        new HeldOperand(
                                "%dx",
                                new SourceType.Structure(
                                        Keyword.STRUCT,
                                        "halves",
                                        8,
                                        () ->
                                                List.of(
                                                        member("low", INT, 0, 0),
                                                        member("high", INT, 32, 0))),
                                0,
                                0);
                case "packed" -> new HeldOperand("%cx", INNER, 0, 0);
                case "global" -> new StoredOperand(FetchArgument.program(0x4010), INT, 0, 0, false);
                case "five" -> new CalculatedOperand(FetchArgument.constant(5), INT);
                default -> throw ProbeException.at(text, at, "there is no " + name);
            };
        }

        @Override
        public ProbeOperand special(String text, int at, String name) {
            return new HeldOperand("$" + name, U64, 0, 0);
        }

        @Override
        public NamedTypes types() {
            return (space, name) ->
                    space == NameSpace.STRUCT && name.equals("outer")
                            ? Optional.of(OUTER)
                            : Optional.empty();
        }

        @Override
        public StaticAddresses statics() {
            return new FetchArgument.StaticAddresses() {
                @Override
                public String memory(long address) {
                    return "@+" + address;
                }

                @Override
                public Long running(long address) {
                    return address;
                }
            };
        }

        @Override
        public int addressBytes() {
            return 8;
        }

        @Override
        public boolean isKernel() {
            return true;
        }
    }

    private static String made(String text) throws ProbeException {
        ProbeArgument made = new ArgumentMaker(new Here()).make(text);
        return (made.text() + " " + made.shown()).strip();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "p | p=%di:x64",
                "i | i=%bx:s32",
                "i:u | i=%bx:u32",
                "n=i:x8 | n=%bx:x8",
                "p->next | next=+0(%di):x64",
                "p->next->next->in[2].b | b=+24(+0(+0(%di))):s32",
                "p->in[1].flag | flag=+20(%di):b3@3/8 s3",
                "p->in[1].flag:u | flag=+20(%di):b3@3/8",
                "(struct outer *)(i + 7) | !",
                "p->in[1].flag:s8 | !",
                "p->in[0].wide | wide=+15(%di):b2@6/8",
                "p->low | low=+56(%di):s32",
                "p->name | name=+40(%di):string",
                "p->name[1] | name=+41(%di):s8",
                "p->text:string | text=+0(+64(%di)):string",
                "p->text | text=+64(%di):x64",
                "p->text[2] | text=+2(+64(%di)):s8",
                "p->many | many=+72(%di):s32[3]",
                "*p->next | !",
                "s.in[3].b | b=+48(%sp):s32",
                "s.next->low | low=+56(+16(%sp)):s32",
                "(&s)->low | low=+72(%sp):s32",
                "&s | s=%sp:x64 u64_plus_16",
                "&p->next | next=%di:x64",
                "&p->in | in=%di:x64 u64_plus_8",
                "(*p).low | low=+56(%di):s32",
                "*(p->many + 1) | many=+76(%di):s32",
                "(p + 1)->low | low=+152(%di):s32",
                "p[1].low | low=+152(%di):s32",
                "p->next + 1 | next=+0(%di):x64 u64_plus_96",
                "&p[-1] | p=%di:x64 u64_minus_96",
                "&p->in[1]:u | in=%di:u64 u64_plus_16",
                "&p->in:symbol | !",
                "i + 7 | i=%bx:s32 s32_plus_7",
                "real | real=+8(%sp):x64 double",
                "real:x | real=+8(%sp):x64",
                "reals.y | y=%ax:b32@32/64 float",
                "complex | complex=+8(%sp):x64",
                "global | global=@+16400:s32",
                "&global | global=\\0x4010:x64",
                "five | five=\\5:s32",
                "(unsigned char)i | i=%bx:u8",
                "(struct outer *)i | i=%bx:x64",
                "((struct outer *)$retval)->low | low=+56($retval):s32",
                "container_of(inner, struct outer, in[1])->low | low=+40(%ax):s32",
                "container_of(inner, struct outer, in)->low | !",
                "packed.b | b=%cx:s32",
                "packed.flag | flag=%cx:b3@35/64 s3",
                "p.next | !",
                "s->next | !",
                "p->nxt | !",
                "p->in[4].b | !",
                "p->in | !",
                "s | !",
                "%si | si=%si:u64",
                "x=+8(%di):u32 | x=+8(%di):u32",
                "@jiffies | arg=@jiffies",
                "$stack2 | stack2=$stack2:u64",
                "q | !",
                "p-> | !",
                "((p | !",
            })
    void fetches(String text, String wanted) throws ProbeException {
        if (wanted.equals("!")) {
            assertThatThrownBy(() -> made(text)).isInstanceOf(ProbeException.class);
        } else {
            assertThat(made(text)).isEqualTo(wanted);
        }
    }

    @Test
    void faultsSayWhatThereIs() {
        assertThatThrownBy(() -> made("p->nxt"))
                .hasMessage(
                        "struct outer has no member 'nxt'; did you mean next?\n"
                                + "  p->nxt\n     ^");
        assertThatThrownBy(() -> made("p.next")).hasMessageContaining("write ->next");
        assertThatThrownBy(() -> made("s")).hasMessageContaining("choose a member: next, in");
        for (String text : new String[] {"p[%d].low", "(p + %d)->low", "p->next[%d].low"}) {
            assertThatThrownBy(() -> made(text.formatted(Long.MAX_VALUE / 2)))
                    .hasMessageContaining("no array is as long as 4611686018427387903");
        }
    }

    /** Bits that the kernel cuts out of a word have no sign; whoever reads the record knows it. */
    @Test
    void partsOfRegistersKeepTheirSign() throws ProbeException {
        assertThat(made("halves.high")).isEqualTo("high=%dx:b32@32/64 s32");
        assertThat(made("halves.high:s")).isEqualTo("high=%dx:b32@32/64 s32");
        assertThat(made("halves.low")).isEqualTo("low=%dx:s32");
        assertThat(made("halves.high:u32")).isEqualTo("high=%dx:b32@32/64");
        for (String type : new String[] {"s16", "x32", "x", "u64"}) {
            assertThatThrownBy(() -> made("halves.high:" + type))
                    .hasMessageContaining("a decimal number; leave :" + type + " away");
        }
    }

    @Test
    void namesAreUniqueAndNotReserved() throws ProbeException {
        ArgumentMaker maker = new ArgumentMaker(new Here());
        assertThat(maker.make("i").name()).isEqualTo("i");
        assertThat(maker.make("i").name()).isEqualTo("i_1");
        assertThat(maker.make("common_pid=i").name()).isEqualTo("common_pid_1");
        assertThat(maker.make("n" + "x".repeat(60) + "=i").name()).hasSizeLessThan(32);
    }
}
