package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

final class PrintFormatTest {
    private static PrintFormat parse(String format) {
        try {
            return PrintFormat.parse(format);
        } catch (FormatException e) {
            throw new AssertionError(e);
        }
    }

    private static String one(String format, ValueType type, byte[] bytes) {
        return parse(format).render(TupleType.of(List.of(type)), bytes, 0, new MachineNames());
    }

    private static String integer(String format, long value) {
        return one(format, IntType.I64, Little.i64s(value));
    }

    private static String text(String format, String value) {
        return one(format, new TextType(16), Little.bytes().text(value, 16).get());
    }

    @Test
    void severalArguments() {
        TupleType arguments =
                TupleType.of(List.of(IntType.I32, new TextType(4), IntType.I8, new TextType(3)));
        byte[] bytes = Little.bytes().i64(-1).i32(1).text("ab", 4).i8(-2).text("c", 3).get();
        assertThat(parse("%dst: %sa; %dnd: %s;;\n").render(arguments, bytes, 8, new MachineNames()))
                .isEqualTo("1st: aba; -2nd: c;;\n");
        assertThat(
                        parse("hi %% \033[31m\u00c3\u00a9")
                                .render(TupleType.of(List.of()), bytes, 0, names()))
                .isEqualTo("hi % \033[31m\u00e9");
    }

    private static ValueNames names() {
        return new MachineNames();
    }

    @Test
    void lengths() {
        long value = 0x12345678abcdefL;
        assertThat(integer("%hhx %%", value)).isEqualTo("ef %");
        assertThat(integer("%hx", value)).isEqualTo("cdef");
        assertThat(integer("%x", value)).isEqualTo("78abcdef");
        assertThat(integer("%jx", value)).isEqualTo("12345678abcdef");
        assertThat(integer("%llX", value)).isEqualTo("12345678ABCDEF");
        assertThat(integer("%d", 0x1_8000_0000L)).isEqualTo("-2147483648");
        assertThat(integer("%hd", 0x8000)).isEqualTo("-32768");
        assertThat(integer("%hhi", 0xff)).isEqualTo("-1");
        assertThat(integer("%ld", Long.MIN_VALUE)).isEqualTo("-9223372036854775808");
        assertThat(integer("%zu", -1)).isEqualTo("18446744073709551615");
        assertThat(integer("%u", -1)).isEqualTo("4294967295");
        assertThat(integer("%hho", 0777)).isEqualTo("377");
        assertThat(one("%lld", IntType.U32, Little.i64s(-1))).isEqualTo("4294967295");
    }

    @Test
    void flagsAndWidths() {
        assertThat(integer("[%5d]", 42)).isEqualTo("[   42]");
        assertThat(integer("[%-5d]", 42)).isEqualTo("[42   ]");
        assertThat(integer("[%05d]", 42)).isEqualTo("[00042]");
        assertThat(integer("[%05d]", -42)).isEqualTo("[00-42]");
        assertThat(integer("[%-05d]", 42)).isEqualTo("[42000]");
        assertThat(integer("[%+d]", 42)).isEqualTo("[+42]");
        assertThat(integer("[%+d]", -42)).isEqualTo("[-42]");
        assertThat(integer("[%+u]", 42)).isEqualTo("[42]");
        assertThat(integer("[% d]", 42)).isEqualTo("[42]");
        assertThat(integer("[%#x]", 255)).isEqualTo("[0xff]");
        assertThat(integer("[%#X]", 255)).isEqualTo("[0XFF]");
        assertThat(integer("[%#o]", 8)).isEqualTo("[010]");
        assertThat(integer("[%#x]", 0)).isEqualTo("[0]");
        assertThat(integer("[%04x]", 2)).isEqualTo("[0002]");
        assertThat(integer("[%.5d]", 42)).isEqualTo("[42]");
        assertThat(integer("[%*d]", 42)).isEqualTo("[42]");
        assertThat(text("%5s", "ba")).isEqualTo("   ba");
        assertThat(text("%-5s|", "ba")).isEqualTo("ba   |");
        assertThat(text("%1s", "ba")).isEqualTo("ba");
        assertThat(text("%.3s", "abcdef")).isEqualTo("abc");
        assertThat(text("[%-10.2s]", "abcdef")).isEqualTo("[ab        ]");
    }

    @Test
    void charactersAndPointers() {
        assertThat(integer("%c", 0x41)).isEqualTo("A");
        assertThat(integer("%c", 0x141)).isEqualTo("A");
        assertThat(integer("[%3c]", 'x')).isEqualTo("[  x]");
        assertThat(integer("%c", 27)).isEqualTo("\\x1b");
        assertThat(integer("%p", 0x1fL << 36)).isEqualTo("0x1f000000000");
        assertThat(integer("%p", 0)).isEqualTo("0");
        ValueType pointer = new PointerType(new VoidType(), PointerSpace.KERNEL);
        assertThat(one("%llx", pointer, Little.i64s(-1))).isEqualTo("ffffffffffffffff");
        assertThat(one("%s", pointer, Little.i64s(16))).isEqualTo("0x10");
    }

    @Test
    void valuesAsText() {
        assertThat(integer("%s", -7)).isEqualTo("-7");
        assertThat(one("%s %%", new BoolType(), new byte[] {1})).isEqualTo("true %");
        assertThat(one("%d", new BoolType(), new byte[] {1})).isEqualTo("1");
        EnumType letter = new EnumType("letter", 4, false, Map.of(1L, "B"));
        assertThat(one("%5s", letter, Little.i64s(1))).isEqualTo("    B");
        assertThat(one("%d", letter, Little.i64s(1))).isEqualTo("1");
        assertThat(one("%s", letter, Little.i64s(100))).isEqualTo("100");
        assertThat(one("%s", new SpecialType(SpecialValue.KERNEL_SYMBOL), Little.i64s(5)))
                .isEqualTo("k5");
        TupleType pair = TupleType.of(List.of(IntType.I32, IntType.I32));
        assertThat(one("%3s", pair, Little.bytes().i32(1, 2).get())).isEqualTo("  (1, 2)");
        assertThat(one("%d", new AverageType(false, true), Little.i64s(6, 2))).isEqualTo("3");
        assertThat(text("%s", "\033]0;x\007")).isEqualTo("\\x1b]0;x\\x07");
    }

    @Test
    void buffers() {
        byte[] bytes = Little.bytes().i32(6).text("Hello", 6).get();
        ValueType buffer = new BytesType(6);
        assertThat(one("%r", buffer, bytes)).isEqualTo("Hello\\x00");
        assertThat(one("%rx", buffer, bytes)).isEqualTo("\\x48\\x65\\x6c\\x6c\\x6f\\x00");
        assertThat(one("%rh.", buffer, bytes)).isEqualTo("48 65 6c 6c 6f 00.");
        assertThat(one("%s", buffer, bytes)).isEqualTo("Hello\\x00");
    }

    @Test
    void gfpFlags() {
        assertThat(integer("%gr", 1)).isEqualTo("GFP_DMA");
        assertThat(integer("%gr", 0)).isEqualTo("0");
        assertThat(integer("%gr", 0xcc0)).isEqualTo("GFP_KERNEL");
        assertThat(integer("%gr", 0xdc0)).isEqualTo("GFP_KERNEL|__GFP_ZERO");
        assertThat(integer("%gr", 0x822)).isEqualTo("GFP_ATOMIC|__GFP_HIGHMEM");
        assertThat(integer("%gr", 0x40000020L << 4)).isEqualTo("0x400000200");
        assertThat(integer("%gr", 0x10_0000_0000L)).isEqualTo("0x1000000000");
    }

    @Test
    void whatIsNoConversionIsText() {
        assertThat(parse("100% %y %. %-+q %l").count()).isZero();
        assertThat(integer("%d 100%, %y %.d %0-5d %l", 1)).isEqualTo("1 100%, %y %.d %0-5d %l");
        assertThat(integer("% %y %d", 1)).isEqualTo("%y 1");
        assertThat(integer("%5%%d", 1)).isEqualTo("%1");
        assertThat(parse("%s%-20s%.3s").limit(1)).isEqualTo(-1);
        assertThat(parse("%s%-20s%.3s").limit(2)).isEqualTo(3);
        assertThatThrownBy(() -> PrintFormat.parse("ab %99999d"))
                .isInstanceOfSatisfying(
                        FormatException.class, e -> assertThat(e.offset()).isEqualTo(3));
    }

    @Test
    void argumentsThatDoNotFit() {
        ValueType text = new TextType(3);
        IntType number = IntType.I64;
        assertThat(parse("%d %s").check(List.of(number, text))).isNull();
        assertThat(parse("%d %d").check(List.of(number)))
                .isEqualTo("not enough arguments for format string (1 supplied, 2 expected)");
        assertThat(parse("hi").check(List.of(number)))
                .isEqualTo("too many arguments for format string (1 supplied, 0 expected)");
        assertThat(parse("%d").check(List.of(text)))
                .isEqualTo("unsupported format specifier for type 'string[3]': d");
        assertThat(parse("%rx").check(List.of(text)))
                .isEqualTo("unsupported format specifier for type 'string[3]': rx");
        assertThat(parse("%f").check(List.of(number))).isEqualTo("unsupported format specifier: f");
        assertThat(parse("%s").check(List.of(new VoidType())))
                .isEqualTo("unable to print none type for specifier: s");
        assertThat(parse("%p").check(List.of(new BoolType()))).isNull();
        assertThat(text("%d", "x")).isEqualTo("!{invalid integer conversion: x}");
    }

    @Test
    void commandsGetTheBytesAsTheyAre() {
        byte[] bytes = Little.bytes().i8('a', 27, 0xff, 0).get();
        byte[] raw =
                parse("cat %s")
                        .renderRaw(TupleType.of(List.of(new TextType(4))), bytes, 0, names());
        assertThat(raw).isEqualTo("cat a\033\u00ff".getBytes(StandardCharsets.ISO_8859_1));
    }
}
