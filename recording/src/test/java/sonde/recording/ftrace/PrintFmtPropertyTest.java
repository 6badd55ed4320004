package sonde.recording.ftrace;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Source;
import sonde.testkit.Property;
import sonde.testkit.TraceDatBytes;

class PrintFmtPropertyTest {
    private static final String[] PIECES = {
        "REC->u",
        "REC->name",
        "REC->text",
        "(REC)",
        "(",
        ")",
        "{",
        "}",
        "({",
        "})",
        "[",
        "]",
        ";",
        ",",
        " ? ",
        " : ",
        " + ",
        " - ",
        " * ",
        " << ",
        " && ",
        " == ",
        " = ",
        "++",
        "&",
        "->",
        ".",
        "1",
        "0x7f",
        "-1",
        "255UL",
        "x",
        "y",
        "int x = ",
        "char *y; ",
        "if (",
        " else ",
        "while (",
        "for (",
        "switch (",
        "case 1: ",
        "default: ",
        "break; ",
        "(u8)",
        "(struct foo *)",
        "union {",
        "u16 a; ",
        "sizeof(",
        "__get_str(text)",
        "__get_dynamic_array(text)",
        "__print_flags(",
        "__print_symbolic(",
        "__print_array(",
        "__print_hex(",
        "\"|\", ",
        "{ 1, \"one\" }",
        "trace_seq_printf(p, \"%d\", ",
        "trace_seq_buffer_ptr(p)",
        "__builtin_clz(",
        "abs(",
        "min(",
    };
    private static final String[] CONVERSIONS = {
        "%d", "%s", "%p", "%pS", "%pI6c", "%pISpc", "%*ph", "%-08lx", "%.*s", "%c", "%pUb", "%%",
        "%pM", "%#o", "%pe", "%4096d", "text", "%p4cc", "%*pbl", "%",
    };

    @Test
    void everyFormatGivesAText() {
        Assertions.assertTimeoutPreemptively(
                Duration.ofMinutes(2),
                () -> Property.forAll(1, 20_000, PrintFmtPropertyTest::printed));
    }

    private static void printed(RandomGenerator random) throws MalformedInputException {
        StringBuilder print = new StringBuilder("\"");
        int conversions = random.nextInt(4);
        for (int i = 0; i < conversions; i++) {
            print.append(CONVERSIONS[random.nextInt(CONVERSIONS.length)]).append(' ');
        }
        print.append('"');
        for (int i = 0; i < conversions; i++) {
            print.append(", ");
            for (int n = random.nextInt(12); n >= 0; n--) {
                print.append(PIECES[random.nextInt(PIECES.length)]);
            }
        }
        String fields =
                "\tfield:unsigned int u;\toffset:8;\tsize:4;\tsigned:0;\n"
                        + "\tfield:char name[8];\toffset:12;\tsize:8;\tsigned:0;\n"
                        + "\tfield:__data_loc char[] text;\toffset:20;\tsize:4;\tsigned:0;\n";
        String text = TraceDatBytes.format("e", 1, fields, print.toString());
        EventType type = EventFormat.parse(text, 8).toType(0, "test");
        byte[] payload = new byte[24 + random.nextInt(16)];
        random.nextBytes(payload);
        Batch batch =
                new Batch(new Source("t", Clock.MONO, List.of(type)), ByteOrder.LITTLE_ENDIAN);
        batch.reset(MemorySegment.ofArray(payload));
        batch.add(0, 0, 5, 0, 0, payload.length);
        TextBuffer out = new TextBuffer(64);
        PrintFmt format =
                PrintFmt.of(type, TextContext.of(PageLayout.NATIVE, new byte[0], new byte[0]));
        format.append(out, batch, 0);
        assertThat(out.size()).as(print.toString()).isLessThan(1 << 20);
    }
}
