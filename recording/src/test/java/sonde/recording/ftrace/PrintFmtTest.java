package sonde.recording.ftrace;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.MalformedInputException;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Source;
import sonde.testkit.Bytes;
import sonde.testkit.TraceDatBytes;

class PrintFmtTest {
    private static final String FIELDS =
            "\tfield:unsigned int u;\toffset:8;\tsize:4;\tsigned:0;\n"
                    + "\tfield:int s;\toffset:12;\tsize:4;\tsigned:1;\n"
                    + "\tfield:u64 wide;\toffset:16;\tsize:8;\tsigned:0;\n"
                    + "\tfield:char name[8];\toffset:24;\tsize:8;\tsigned:0;\n"
                    + "\tfield:u8 bytes[16];\toffset:32;\tsize:16;\tsigned:0;\n"
                    + "\tfield:__data_loc char[] text;\toffset:48;\tsize:4;\tsigned:0;\n"
                    + "\tfield:__data_loc u32[] list;\toffset:52;\tsize:4;\tsigned:0;\n"
                    + "\tfield:__rel_loc unsigned long[] mask;\toffset:56;\tsize:4;\tsigned:0;\n"
                    + "\tfield:void * ip;\toffset:64;\tsize:8;\tsigned:0;\n";

    private static byte[] payload() {
        Bytes out = new Bytes(ByteOrder.LITTLE_ENDIAN);
        out.u16(1).u8(0).u8(0).u32(5); // common fields
        out.u32(0xf000_0001L).u32(-3).u64(0xffff_ffff_8100_0010L).chars("abc", 8);
        for (int i = 0; i < 16; i++) {
            out.u8(0x10 + i); // bytes
        }
        out.u32(72 | 6 << 16); // text at 72, 6 bytes
        out.u32(80 | 8 << 16); // list at 80, 8 bytes
        out.u32(88 - 60 | 8 << 16); // mask at 88, counted from the end of this word
        out.u32(0); // hole
        out.u64(0xffff_ffff_8100_0010L); // ip
        out.text("hello").u16(0); // 72..80
        out.u32(7).u32(0xffL); // 80..88
        out.u64(0b1101L); // 88..96
        return out.toBytes();
    }

    private static String print(String format) throws MalformedInputException {
        return print(format, payload());
    }

    private static String print(String format, byte[] payload) throws MalformedInputException {
        EventFormat event = EventFormat.parse(TraceDatBytes.format("e", 1, FIELDS, format), 8);
        EventType type = event.toType(0, "test");
        byte[] kallsyms =
                "ffffffff81000000 T start\nffffffff81000008 t middle\nffffffff81000100 T last\n"
                        .getBytes(StandardCharsets.UTF_8);
        byte[] printk = "0xffffffff81000010 : \"kernel\\ttext\"\n".getBytes(StandardCharsets.UTF_8);
        TextContext context = TextContext.of(PageLayout.NATIVE, kallsyms, printk);
        Batch batch =
                new Batch(new Source("t", Clock.MONO, List.of(type)), ByteOrder.LITTLE_ENDIAN);
        batch.reset(MemorySegment.ofArray(payload));
        batch.add(0, 0, 5, 0, 0, payload.length);
        TextBuffer out = new TextBuffer(64);
        PrintFmt.of(type, context).append(out, batch, 0);
        return out.toString();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "%d %u %x %#x|REC->s, REC->s, REC->s, REC->u|-3 4294967293 fffffffd 0xf0000001",
                "[%5d] [%-5d] [%05d] [%+d] [%.3d]|7, 7, 7, 7, 7|[    7] [7    ] [00007] [+7] [007]",
                "%08x %X %o %c|255, 255, 8, 'A'|000000ff FF 10 A",
                "%hhu %hd %llu|REC->u, REC->u, REC->wide|1 1 18446744071578845200",
                "%u %u|REC->u >> 28, (REC->u & 0xff) + 1|15 2",
                "%d|REC->s < 0 ? -1 : 1|-1",
                "%d|REC->s < 0U|0",
                "%u|((unsigned int) ((REC->u) >> 20))|3840",
                "%d|(u8)REC->s|253",
                "%d %d|(bool)REC->u, !REC->u|1 0",
                "%lu|(1UL << 40) / 1024 % 1000|824",
                "%d|(10 - 4 - 3) * 2|6",
                "%d|5 / 0|0",
                "%s %.2s [%5s] [%-5s]|REC->name, REC->name, REC->name, REC->name"
                        + "|abc ab [  abc] [abc  ]",
                "[%*d] %.*s|5, 42, 2, REC->name|[   42] ab",
                "%s|REC->s > 0 ? \"yes\" : \"no\"|no",
                "%s|__get_str(text)|hello",
                "%c|__get_str(text)[1]|e",
                "%u|__get_dynamic_array_len(list)|8",
                "%u|((u32 *)__get_dynamic_array(list))[1]|255",
                "%s|__print_array(__get_dynamic_array(list), 2, 4)|{0x7,0xff}",
                "%s|__print_dynamic_array(list, sizeof(u32))|{0x7,0xff}",
                "%s|__print_vendor_array(__get_dynamic_array(list), 1)|{0x7}",
                "%s|__get_rel_bitmask(mask)|00000000,0000000d",
                "%s|__get_rel_cpumask(mask)|0,2-3",
                "%s %s|__print_hex(REC->bytes, 3), __print_hex_str(REC->bytes, 3)|10 11 12 101112",
                "%s|__print_symbolic(REC->s, { -3, \"MINUS\" \"3\" }, { 1, \"ONE\" })|MINUS3",
                "%s|__print_symbolic(REC->u, { 1, \"ONE\" })|0xf0000001",
                "%s|__print_symbolic(0, { KERNEL_ONLY, \"X\" }, { 0, \"ZERO\" })|ZERO",
                "%pS %ps %p|REC->ip, (void *)REC->ip, REC->ip"
                        + "|middle+0x8 middle 0xffffffff81000010",
                "%pM %pMF %pmR|REC->bytes, REC->bytes, REC->bytes"
                        + "|10:11:12:13:14:15 10-11-12-13-14-15 151413121110",
                "%pI4 %pi4|REC->bytes, REC->bytes|16.17.18.19 016.017.018.019",
                "%pI6c|REC->bytes|1011:1213:1415:1617:1819:1a1b:1c1d:1e1f",
                "%pUb %pUl|REC->bytes, REC->bytes"
                        + "|10111213-1415-1617-1819-1a1b1c1d1e1f"
                        + " 13121110-1514-1716-1819-1a1b1c1d1e1f",
                "%*pb %*pbl|70, __get_rel_dynamic_array(mask), 64,"
                        + " __get_rel_dynamic_array(mask)|00000000,0000000d 0,2-3",
                "%pe %pe|(void *)-2L, REC->ip|-ENOENT 0xffffffff81000010",
                "%p4cc %p4cc|0x32314742, REC->bytes|BG12 little-endian (0x32314742)"
                        + " .... little-endian (0x13121110)",
                "%*ph %3phC|2, REC->bytes, REC->bytes|10 11 10:11:12",
                "%s|REC->ip|kernel\ttext",
                "%llu.%09llu|__print_ns_to_secs(5000000123), __print_ns_without_secs(5000000123)"
                        + "|5.000000123",
                "%d %d|sizeof(int), __builtin_expect(3, 1)|4 3",
                "%x|__builtin_constant_p(REC->u) ? 1 : __fswab32(REC->u)|10000f0",
                "100%% %u|REC->bytes[2]|100% 18",
            })
    void printsAsTheKernel(String format, String arguments, String expected) throws Exception {
        int bar = arguments.lastIndexOf('|');
        String args = bar < 0 ? arguments : arguments.substring(0, bar);
        assertThat(print("\"" + format + "\", " + args)).isEqualTo(expected.replace("\\t", "\t"));
    }

    private static final String DOUBLING =
            "({ int x = REC->u; for (int i = 0; i < 60; i++) x = x + x; x; })";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "%d|({ int x = (REC->s); int y = (5); ((x) < (y) ? (x) : (y)); })|-3",
                "%u|({ u8 x = 300; x += 3; x <<= 1; x; })|94",
                "%s|({ char *s; switch (REC->name[0]) { case 'a': s = \"A\"; break;"
                        + " case 'b': s = \"B\"; break; default: s = \"?\"; break; } s; })|A",
                "%s|({ char *s = \"0\"; switch (REC->s) { case 7: case -3: s = \"low\";"
                        + " default: s = \"through\"; } s; })|through",
                "%s|({ char *s; if (REC->s > 0) s = \"up\"; else if (REC->s < 0) s = \"down\";"
                        + " else { s = \"none\"; } s; })|down",
                "%s|({ const char *p1 = trace_seq_buffer_ptr(p); trace_seq_printf(p, \"<%d\","
                        + " REC->s); trace_seq_puts(p, REC->name); trace_seq_putc(p, '>');"
                        + " trace_seq_putc(p, 0); p1; })|<-3abc>",
                "%s|({ const char *q = trace_seq_buffer_ptr(p); int i; for (i = 0; i < 3; i++)"
                        + " { trace_seq_printf(p, i ? \",\" : \"\"); trace_seq_printf(p, \"%02x\","
                        + " REC->bytes[i]); } q; })|cannot: a string is needed",
                "%s|({ const char *q = trace_seq_buffer_ptr(p); int i; for (i = 0; i < 3; i++)"
                        + " trace_seq_printf(p, \"%s%02x\", i ? \",\" : \"\", REC->bytes[i]); q; })"
                        + "|10,11,12",
                "%s|({ const char *q = trace_seq_buffer_ptr(p); int i = 0;"
                        + " while (REC->name[i]) { trace_seq_putc(p, REC->name[i]); i++;"
                        + " if (i == 8) { i = 15; } } q; })|abc",
                "%s|({ const char *q = trace_seq_buffer_ptr(p); for (int i = 0; i < REC->bytes[0] - 13;"
                        + " i++) { trace_seq_printf(p, \"%d;\", i); } q; })|0;1;2;",
                "%s|({ const char *q = trace_seq_buffer_ptr(p); for (int i = 0; i < REC->u;"
                        + " i += 1) trace_seq_putc(p, 'x'); q; })|"
                        + "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…",
                "%s|({ static const char *names[] = { \"zero\", \"one\", \"two\" };"
                        + " names[REC->s + 4]; })|one",
                "%d|({ static const int squares[] = { 0, 1, 4, 9, }; squares[REC->s + 5]; })|4",
                "%x %d|({ union { u32 word; struct { unsigned level:4; unsigned wide:1;"
                        + " unsigned rest:27; }; } role; role.word = REC->u; role.level; }),"
                        + " ({ union { u32 word; struct { int low:28; int high:4; }; } role;"
                        + " role.word = REC->u; role.high; })|1 -1",
                "%x|({ struct { u8 a; u16 b; } v; v.a = 1; v.b = 0x203; v.a + v.b; })|204",
                "%d|({ int x = 1; ({ int x = 2; x; }) + x; })|3",
                "%s|REC->ip ?: \"nothing\"|kernel\ttext",
                "%llu|(unsigned long long)(((ktime_t) { .tv64 = REC->wide }).tv64)"
                        + "|18446744071578845200",
                "%d %d %d|__builtin_clz(1), ilog2(REC->bytes[0]), hweight32(REC->u)|31 4 5",
                "%d|__builtin_constant_p(3) ? 4 : kernel_only(3)|4",
                "%d %d|min(REC->s, 4), max(3, 4)|-3 4",
                "%lu %lu|sizeof(REC->bytes), sizeof(REC->u)|16 4",
                "%llx|pte_val(native_make_pte(REC->wide))|ffffffff81000010",
                "%x %x|be16_to_cpu(0x1234), le16_to_cpu(0x1234)|3412 1234",
            })
    void statementsAreFollowed(String format, String arguments, String expected) throws Exception {
        String found = print("\"" + format + "\", " + arguments);
        if (expected.startsWith("cannot")) {
            assertThat(found).startsWith(" u=4026531841 s=-3");
        } else {
            assertThat(found).isEqualTo(expected.replace("\\t", "\t"));
        }
    }

    @Test
    void whatVariablesStandForIsBounded() throws Exception {
        assertThat(print("\"%d\", " + DOUBLING)).startsWith(" u=4026531841 s=-3");
    }

    @Test
    void addressesOfAStackAreNamed() throws Exception {
        String text = print("\"at%s\", __get_rel_stacktrace(mask)");
        assertThat(text).isEqualTo("at\n=> 0xd");
    }

    @Test
    void flagsUseTheDelimiter() throws Exception {
        String flags = "__print_flags(REC->u, \"|\", { 1, \"A\" }, { 0x10000000, \"B\" })";
        assertThat(print("\"%s\", " + flags)).isEqualTo("A|B|0xe0000000");
        assertThat(print("\"%s\", __print_flags(0, \"|\", { 1, \"A\" })")).isEmpty();
        assertThat(print("\"%s\", __print_flags(0, \"|\", { 0, \"NONE\" })")).isEqualTo("NONE");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "driver_text(REC->u)",
                "({ union kernel_has bar; bar.x = 1; bar.y; })",
                "({ int x; x; })",
                "({ int x = 1; while (x) x++; x; })",
                "({ int x = REC->u; for (;;) if (x) break; x; })",
                "({ int x = 1; goto end; x; })",
                "({ for (;;) ; })",
                "REC->missing",
                "REC->u +",
                "((((((REC->u",
                "\"open",
            })
    void whatCannotBeFollowedIsShownByField(String argument) throws Exception {
        assertThat(print("\"%d\", " + argument))
                .startsWith(
                        " u=4026531841 s=-3 wide=18446744071578845200 name=abc bytes=ARRAY[10,");
    }

    @Test
    void shortPayloadsAreCutNotOverrun() throws Exception {
        byte[] cut = java.util.Arrays.copyOf(payload(), 76);
        String format =
                "\"%s %s %pI6c %s\", __get_str(text), __get_rel_cpumask(mask), "
                        + "__get_dynamic_array(list), __print_array(__get_dynamic_array(list), 500, 4)";
        assertThat(print(format, cut)).isEqualTo("hell  [short] {}");
    }

    @Test
    void controlCharactersAreEscaped() throws Exception {
        byte[] payload = payload();
        payload[24] = 0x1b;
        assertThat(print("\"%s\", REC->name", payload)).isEqualTo("\\x1bbc");
    }

    @Test
    void ipv6IsCompressed() throws Exception {
        byte[] payload = payload();
        java.util.Arrays.fill(payload, 32, 48, (byte) 0);
        payload[47] = 1;
        assertThat(print("\"%pI6c %pI6\", REC->bytes, REC->bytes", payload))
                .isEqualTo("::1 0000:0000:0000:0000:0000:0000:0000:0001");
        payload[42] = (byte) 0xff;
        payload[43] = (byte) 0xff;
        assertThat(print("\"%pI6c\", REC->bytes", payload)).isEqualTo("::ffff:0.0.0.1");
    }

    @Test
    void tableKeepsTheFirstFormatOfAnId() throws Exception {
        EventFormat one = EventFormat.parse(TraceDatBytes.format("one", 1, "", "\"\""), 8);
        EventFormat two = EventFormat.parse(TraceDatBytes.format("two", 1, "", "\"\""), 8);
        FtraceTypeTable table =
                FtraceTypeTable.of(Map.of("s", List.of(one, two)), PageLayout.NATIVE);
        assertThat(table.types())
                .extracting(EventType::name)
                .containsExactly("lost", "corrupt", "unknown", "one");
    }
}
