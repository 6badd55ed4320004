package sonde.recording.ctf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.schema.EventClass;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ctf.schema.FieldLength;
import sonde.recording.ctf.schema.FieldRole;
import sonde.recording.ctf.schema.TraceClass;
import sonde.recording.ctf.schema.ValueRange;
import sonde.recording.ctf.tsdl.TsdlReader;

/** The language by itself. */
class TsdlTest {
    private static final String TRACE =
            "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = be; };";

    private static TraceClass read(String text) throws MalformedInputException {
        return TsdlReader.read(text);
    }

    /** The class of the only field of an event's payload. */
    private static FieldClass field(String types, String field) throws MalformedInputException {
        TraceClass trace =
                read(types + TRACE + "event { name = e; fields := struct { " + field + " }; };");
        EventClass event = trace.streams.get(0L).events.get(0L);
        StructureClass payload = event.payload();
        assertThat(payload).isNotNull();
        return payload.members().get(0).type();
    }

    @Test
    void integers() throws MalformedInputException {
        String all =
                "integer { size = 0x20u; align = 4; signed = TRUE; byte_order = le; base = hex;"
                        + " encoding = UTF8; unknown = a.b; } x;";
        BitField bits = (BitField) field("", all);
        assertThat(bits.bits()).isEqualTo(32);
        assertThat(bits.alignment()).isEqualTo(4);
        assertThat(bits.signed()).isTrue();
        assertThat(bits.bigEndian()).isFalse();
        assertThat(bits.base()).isEqualTo(16);
        assertThat(((BitField) field("", "integer { size = 7; } x;")).alignment()).isEqualTo(1);
        assertThat(((BitField) field("", "integer { size = 16; } x;")).alignment()).isEqualTo(8);
        // A type before the trace block has the trace's order too.
        String early = "typealias integer { size = 8; } := byte;";
        assertThat(((BitField) field(early, "byte x;")).bigEndian()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "typealias integer { size = 8; } := unsigned long int;, unsigned long int x;",
        "typealias integer { size = 8; } := const char *;, const char * x;",
        "typedef integer { size = 8; } small;, small x;",
        "typealias integer { size = 8; } := a; typealias a := b;, b x;",
        "typealias integer { size = 8; } := u8; typedef u8 v8;, v8 x;",
    })
    void names(String types, String field) throws MalformedInputException {
        assertThat(((BitField) field(types, field)).bits()).isEqualTo(8);
    }

    @Test
    void enumerations() throws MalformedInputException {
        String field =
                "enum : integer { size = 8; signed = true; }"
                        + " { A, B, \"two words\" = -3 ... -1, C, A = 100, } x;";
        BitField bits = (BitField) field("", field);
        assertThat(bits.mappings().stream().map(one -> one.label()))
                .containsExactly("A", "B", "two words", "C");
        assertThat(bits.mappings().get(0).ranges())
                .containsExactly(new ValueRange(0, 0), new ValueRange(100, 100));
        assertThat(bits.mappings().get(3).ranges()).containsExactly(new ValueRange(0, 0));
    }

    @Test
    void arrays() throws MalformedInputException {
        String types = "typealias integer { size = 8; encoding = ASCII; } := character;";
        FieldClass.Array outer =
                (FieldClass.Array) field("", "integer { size = 16; align = 16; } x[2][3];");
        assertThat(outer.length()).isEqualTo(new FieldLength.Fixed(2));
        assertThat(outer.alignment()).isEqualTo(16);
        assertThat(((FieldClass.Array) outer.element()).length())
                .isEqualTo(new FieldLength.Fixed(3));
        assertThat(field(types, "character x[5];")).isInstanceOf(TextClass.class);
    }

    @Test
    void structures() throws MalformedInputException {
        String types =
                "struct inner { typealias integer { size = 8; align = 32; } := wide;"
                        + " wide a, b; } align(16);";
        StructureClass type = (StructureClass) field(types, "struct inner _x;");
        assertThat(type.alignment()).isEqualTo(32);
        assertThat(type.members().stream().map(one -> one.name())).containsExactly("a", "b");
    }

    @Test
    void variantsDeclaredBeforeTheirSelector() throws MalformedInputException {
        String text =
                TRACE
                        + "typealias integer { size = 8; } := u8;"
                        + "variant choice { u8 a; string b; };"
                        + "event { name = e; fields := struct {"
                        + " enum : u8 { a, b } t; variant choice <t> v; }; };";
        EventClass event = read(text).streams.get(0L).events.get(0L);
        StructureClass payload = event.payload();
        assertThat(payload).isNotNull();
        VariantClass variant = (VariantClass) payload.members().get(1).type();
        assertThat(variant.options().stream().map(one -> one.name())).containsExactly("a", "b");
    }

    @Test
    void rolesAndClocks() throws MalformedInputException {
        String text =
                """
                /* CTF 1.8 */ // a comment
                typealias integer { size = 32; } := u32;
                trace { major = 1; minor = 8; byte_order = le;
                  packet.header := struct { u32 magic; u32 stream_id; }; };
                clock { name = c; freq = 1000; offset_s = -5; description = "a \\"b\\"\\x41"; };
                stream { id = 4; event.header := struct { u32 id; u32 timestamp; };
                  packet.context := struct { u32 events_discarded; u32 cpu_id; }; };
                callsite { name = "x"; func = "f"; file = "a.c"; line = 3; };
                event { id = 2; name = "e"; stream_id = 4; loglevel = 13; model.emf.uri = "u"; };
                """;
        TraceClass trace = read(text);
        assertThat(trace.clocks.get("c").offsetSeconds()).isEqualTo(-5);
        var stream = trace.streams.get(4L);
        assertThat(stream.clock).isEqualTo(trace.clocks.get("c"));
        StructureClass header = stream.eventHeader;
        assertThat(header).isNotNull();
        assertThat(header.members().stream().map(one -> ((BitField) one.type()).roles()))
                .containsExactly(
                        Set.of(FieldRole.EVENT_CLASS_ID),
                        Set.of(FieldRole.DEFAULT_CLOCK_TIMESTAMP));
        assertThat(stream.events.get(2L).name()).isEqualTo("e");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "trace { major = 2; minor = 0; };",
                "trace { major = 1; minor = 8; uuid = \"12\"; };",
                "typealias integer { size = 4097; } := a;",
                "typealias integer { align = 8; } := a;",
                "typealias integer { size = 8; align = 3; } := a;",
                "typealias integer { size = 8; byte_order = middle; } := a;",
                "typealias floating_point { exp_dig = 9; mant_dig = 24; } := a;",
                "typealias unknown := a;",
                "typealias integer { size = 8; } := a; typealias integer { size = 8; } := a;",
                "struct s { integer { size = 8; } a; integer { size = 8; } _a; };",
                "typealias enum : integer { size = 8; } { A = 5 ... 4 } := a;",
                "event { id = 1; stream_id = 2; }; stream { id = 1; };",
                "clock { freq = 3; };",
                "clock { name = c; freq = 0; };",
                "stream { id = 0; }; stream { id = 0; };",
                "event { fields := struct { integer { size = 8; } a[-1]; }; };",
                "event { fields := struct { string s; variant <s> { string a; } v; }; };",
                "event { fields := struct { integer { size = 8; } a[b]; }; };",
                "event { fields := struct { integer { size = 8; } a[a]; }; };",
                "event { name = \"no end",
                "/* no end",
                "event { fields := struct { string s } };",
                "\u00e9",
                "trace",
                "typealias integer { size = 999999999999999999999; } := a;",
            })
    void whatIsNoTsdlIsRefused(String text) {
        byte[] bytes = ("/* CTF 1.8 */" + text).getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> Read.open(Map.of("metadata", bytes)).close())
                .isInstanceOf(MalformedInputException.class)
                .hasMessageStartingWith("ctf: metadata");
    }

    @Test
    void nestingIsBounded() {
        List<String> texts =
                List.of(
                        "typealias " + "struct { ".repeat(100_000),
                        "typealias integer { size = 8; } := a; typealias a"
                                + "[1]".repeat(100_000)
                                + " := b;",
                        doublings(40));
        for (String text : texts) {
            byte[] bytes = ("/* CTF 1.8 */" + text).getBytes(StandardCharsets.UTF_8);
            assertThatThrownBy(() -> Read.open(Map.of("metadata", bytes)).close())
                    .isInstanceOf(MalformedInputException.class)
                    .hasMessageContaining("more than");
        }
    }

    /** Types that each hold the one before twice. */
    private static String doublings(int count) {
        StringBuilder text = new StringBuilder("typealias integer { size = 8; } := t0;");
        for (int i = 1; i <= count; i++) {
            text.append("typealias struct { t%d a; t%d b; } := t%d;".formatted(i - 1, i - 1, i));
        }
        return text.append("event { fields := struct { t" + count + " x; }; };").toString();
    }
}
