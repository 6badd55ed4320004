package sonde.recording.ctf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.testkit.CtfBits;

/** CTF 2 as CTF2-SPEC-2.0 has it, and as its release candidates had it. */
class Ctf2Test {
    private static final String U8 =
            "{'type':'fixed-length-unsigned-integer','length':8,'byte-order':'little-endian',"
                    + "'alignment':8}";

    private static String fragments(String... fragments) {
        StringBuilder text = new StringBuilder();
        for (String fragment : fragments) {
            text.append('\u001e').append(fragment.replace('\'', '"')).append('\n');
        }
        return text.toString();
    }

    private static String member(String name, String type) {
        return "{'name':'" + name + "','field-class':" + type + "}";
    }

    private static String structure(String... members) {
        return "{'type':'structure','member-classes':[" + String.join(",", members) + "]}";
    }

    /** A trace without headers whose events have this payload. */
    private static Map<String, byte[]> plain(String payload, CtfBits bits) {
        String metadata =
                fragments(
                        "{'type':'preamble','version':2}",
                        "{'type':'field-class-alias','name':'u8','field-class':" + U8 + "}",
                        "{'type':'data-stream-class'}",
                        "{'type':'event-record-class','name':'e','payload-field-class':"
                                + payload
                                + "}");
        return Map.of("metadata", metadata.getBytes(StandardCharsets.UTF_8), "s", bits.toBytes());
    }

    private static String only(String payload, CtfBits bits) throws IOException {
        return Read.text(plain(payload, bits)).get(0);
    }

    private static String fixed(String type, int length, String order, String more) {
        return "{'type':'fixed-length-%s','length':%d,'byte-order':'%s-endian'%s}"
                .formatted(type, length, order, more);
    }

    @Test
    void fixedLengths() throws IOException {
        String payload =
                structure(
                        member("arr", fixed("bit-array", 5, "little", "")),
                        member(
                                "map",
                                fixed(
                                        "bit-map",
                                        3,
                                        "little",
                                        ",'flags':{'R':[[0,0]],'W':[[1,2]]}")),
                        member("yes", fixed("boolean", 8, "little", "")),
                        member(
                                "rev",
                                fixed(
                                        "unsigned-integer",
                                        8,
                                        "big",
                                        ",'bit-order':'first-to-last'")),
                        member(
                                "neg",
                                fixed(
                                        "signed-integer",
                                        24,
                                        "big",
                                        ",'mappings':{'low':[[-5,-1]],'lower':[[-3,-3]]}")),
                        member("half", fixed("floating-point-number", 16, "little", "")),
                        member("quad", fixed("floating-point-number", 128, "big", "")));
        CtfBits bits = new CtfBits().le(0b10110, 5).le(0b101, 3).le(0x80, 8).be(0b1100_0001, 8);
        bits.be(-3, 24).le(0x3e00, 16).be(0xc000_8000_0000_0000L, 64).be(0, 64);
        assertThat(only(payload, bits))
                .isEqualTo(
                        "e: { arr = 0x16, map = 0x5 (R, W), yes = true, rev = 131,"
                                + " neg = ( { \"low\", \"lower\" } : container = -3 ),"
                                + " half = 1.5, quad = -3 }");
        assertThat(Read.json(plain(payload, bits)).get(0))
                .contains("\"map\":5,\"map.label\":\"R|W\",\"yes\":true")
                .contains("\"neg\":-3,\"neg.label\":\"low|lower\"");
    }

    @Test
    void lengthsBeyondALong() throws IOException {
        String payload =
                structure(
                        member("odd", fixed("unsigned-integer", 65, "little", "")),
                        member("rest", fixed("unsigned-integer", 7, "little", "")),
                        member("bits", fixed("bit-array", 80, "big", "")));
        CtfBits bits = new CtfBits().raw(new byte[] {1, 0, 0, 0, 0, 0, 0, 0, 5});
        bits.raw(new byte[] {0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0x34});
        assertThat(only(payload, bits))
                .isEqualTo(
                        "e: { odd = 18446744073709551617, rest = 2,"
                                + " bits = 0x12000000000000000034 }");
    }

    @Test
    void variableLengths() throws IOException {
        String unsigned = "{'type':'variable-length-unsigned-integer'}";
        String signed = "{'type':'variable-length-signed-integer'}";
        String payload =
                structure(
                        member("a", unsigned),
                        member("b", unsigned),
                        member("c", signed),
                        member("d", signed),
                        member("e", signed));
        CtfBits bits = new CtfBits().leb(300).leb(-1);
        bits.signedLeb(-300).signedLeb(Long.MIN_VALUE).signedLeb(63);
        assertThat(only(payload, bits))
                .isEqualTo(
                        "e: { a = 300, b = 18446744073709551615, c = -300,"
                                + " d = -9223372036854775808, e = 63 }");
    }

    @Test
    void textsAndBytes() throws IOException {
        String length = "'length-field-location':{'origin':'event-record-payload','path':['n']}";
        String payload =
                structure(
                        member("nul", "{'type':'null-terminated-string'}"),
                        member("wide", "{'type':'null-terminated-string','encoding':'utf-16le'}"),
                        member("fix", "{'type':'static-length-string','length':4}"),
                        member("n", "'u8'"),
                        member("dyn", "{'type':'dynamic-length-string'," + length + "}"),
                        member("blob", "{'type':'static-length-blob','length':2}"),
                        member("more", "{'type':'dynamic-length-blob'," + length + "}"));
        CtfBits bits = new CtfBits().text("ab");
        bits.raw("é\u20ac\0".getBytes(StandardCharsets.UTF_16LE));
        bits.raw(new byte[] {'x', 0, 'y', 'z'}).le(3, 8).raw(new byte[] {'d', 'y', 'n'});
        bits.raw(new byte[] {1, (byte) 0xfe}).raw(new byte[] {9, 8, 7});
        assertThat(only(payload, bits))
                .isEqualTo(
                        "e: { nul = \"ab\", wide = \"é€\", fix = \"x\", n = 3, dyn = \"dyn\","
                                + " blob = [ [0] = 0x1, [1] = 0xFE ],"
                                + " more = [ [0] = 0x9, [1] = 0x8, [2] = 0x7 ] }");
    }

    @Test
    void compounds() throws IOException {
        String here = "{'path':['n']}";
        String above = "{'path':[null,'sel']}";
        String inner =
                structure(
                        member("n", "'u8'"),
                        member(
                                "vals",
                                "{'type':'dynamic-length-array','element-field-class':'u8',"
                                        + "'length-field-location':"
                                        + here
                                        + "}"),
                        member(
                                "maybe",
                                "{'type':'optional','selector-field-ranges':[[2,9]],"
                                        + "'selector-field-location':"
                                        + above
                                        + ",'field-class':'u8'}"));
        String variant =
                "{'type':'variant','selector-field-location':{'origin':'event-record-payload',"
                        + "'path':['sel']},'options':["
                        + "{'selector-field-ranges':[[0,1]],'field-class':'u8'},"
                        + "{'name':'deep','selector-field-ranges':[[2,2],[4,255]],'field-class':"
                        + structure(member("z", "{'type':'null-terminated-string'}"))
                        + "}]}";
        String flag = fixed("boolean", 8, "little", "");
        String payload =
                structure(
                        member("sel", "'u8'"),
                        member("in", inner),
                        member("v", variant),
                        member("on", flag),
                        member(
                                "opt",
                                "{'type':'optional','selector-field-location':{'path':['on']},"
                                        + "'field-class':'u8'}"),
                        member(
                                "list",
                                "{'type':'static-length-array','length':2,"
                                        + "'element-field-class':"
                                        + inner.replace("'sel'", "'gone'")
                                        + "}"));
        CtfBits bits = new CtfBits().le(2, 8); // sel
        bits.le(1, 8).le(50, 8).le(51, 8); // in: n, vals[0], maybe
        bits.text("deep").le(0, 8); // v, on
        assertThatThrownBy(() -> only(payload, bits))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining("maybe depends on ...gone");

        String good = payload.replace("'gone'", "'sel'");
        bits.le(1, 8).le(60, 8).le(61, 8); // list[0]
        bits.le(0, 8).le(62, 8); // list[1]
        assertThat(only(good, bits))
                .isEqualTo(
                        "e: { sel = 2, in = { n = 1, vals = [ [0] = 50 ], maybe = { 51 } },"
                                + " v = { { z = \"deep\" } }, on = false, opt = <none>,"
                                + " list = [ [0] = { n = 1, vals = [ [0] = 60 ], maybe = { 61 } },"
                                + " [1] = { n = 0, vals = [ ], maybe = { 62 } } ] }");
        assertThat(Read.json(plain(good, bits)).get(0))
                .contains("\"v.deep.z\":\"deep\",\"on\":false,\"list\":[{\"n\":1,\"vals\":[60]");
    }

    /** Roles, clock, discarded events and two classes of events. */
    private static Map<String, byte[]> withRoles(String clock, String use) {
        String u16 = fixed("unsigned-integer", 16, "big", ",'alignment':8,'roles':['ROLE']");
        String header =
                structure(
                        member(
                                "m",
                                fixed(
                                        "unsigned-integer",
                                        32,
                                        "big",
                                        ",'roles':['packet-magic-number']")),
                        member(
                                "u",
                                "{'type':'static-length-blob','length':16,"
                                        + "'roles':['metadata-stream-uuid']}"),
                        member("c", u16.replace("ROLE", "data-stream-class-id")));
        String context =
                structure(
                        member("b", u16.replace("ROLE", "default-clock-timestamp")),
                        member("e", u16.replace("ROLE", "packet-end-default-clock-timestamp")),
                        member("t", u16.replace("ROLE", "packet-total-length")),
                        member("l", u16.replace("ROLE", "packet-content-length")),
                        member("d", u16.replace("ROLE", "discarded-event-record-counter-snapshot")),
                        member("s", u16.replace("ROLE", "packet-sequence-number")),
                        member("user", U8));
        String event =
                structure(
                        member("id", U8.replace("}", ",'roles':['event-record-class-id']}")),
                        member("ts", U8.replace("}", ",'roles':['default-clock-timestamp']}")));
        String metadata =
                fragments(
                        "{'type':'preamble','version':2,'uuid':[0,1,2,3,4,5,6,7,8,9,10,11,12,13,"
                                + "14,15]}",
                        "{'type':'trace-class','environment':{'hostname':'h'},"
                                + "'packet-header-field-class':"
                                + header
                                + "}",
                        clock,
                        "{'type':'data-stream-class','id':3,"
                                + use
                                + ",'packet-context-field-class':"
                                + context
                                + ",'event-record-header-field-class':"
                                + event
                                + "}",
                        "{'type':'event-record-class','id':0,'data-stream-class-id':3,"
                                + "'name':'zero'}",
                        "{'type':'event-record-class','id':1,'data-stream-class-id':3,"
                                + "'name':'one','payload-field-class':"
                                + structure(member("x", U8))
                                + "}");
        CtfBits bits = new CtfBits().be(0xc1fc1fc1L, 32);
        for (int i = 0; i < 16; i++) {
            bits.le(i, 8);
        }
        bits.be(3, 16); // data-stream-class-id
        bits.be(0x1f0, 16).be(0x300, 16); // begin, end
        int length = bits.size();
        bits.be(0, 16).be(0, 16).be(4, 16).be(0, 16).le(99, 8); // t l d s user
        bits.le(0, 8).le(0xf1, 8).le(1, 8).le(0x02, 8).le(200, 8);
        bits.patch(length, bits.size() + 16, 16, true).patch(length + 16, bits.size(), 16, true);
        bits.le(0xffff, 16); // padding
        return Map.of("metadata", metadata.getBytes(StandardCharsets.UTF_8), "s", bits.toBytes());
    }

    private static final String CLOCK =
            "{'type':'clock-class','NAME':'c','frequency':1000,"
                    + "'origin':'unix-epoch','offset-from-origin':{'seconds':10,'cycles':5}}";

    @ParameterizedTest
    @ValueSource(strings = {"id", "name"})
    void rolesAndClocks(String key) throws IOException {
        Map<String, byte[]> files =
                withRoles(CLOCK.replace("NAME", key), "'default-clock-class-" + key + "':'c'");
        // The clock counts milliseconds: 10 s + 5 ms + 0x1f1 ms, and 0x202 ms.
        assertThat(Read.text(files))
                .containsExactly(
                        "[00:00:10.502000000] (+?.?????????) h zero: { user = 99 }",
                        "[00:00:10.519000000] (+0.017000000) h one: { user = 99 }, { x = 200 }");
        try (CtfRecording recording = Read.open(files)) {
            assertThat(Read.rows(recording))
                    .hasSize(3)
                    .last()
                    .asString()
                    .isEqualTo("10773000000 cpu-1 tid-1 notice:lost events=4 packets=0");
        }
    }

    @Test
    void spellingsOfTheReleaseCandidates() throws IOException {
        String payload =
                structure(
                        member(
                                "tag",
                                fixed(
                                        "unsigned-enumeration",
                                        8,
                                        "big",
                                        ",'mappings':" + "{'A':[[0,0]],'B':[[1,1]]}")),
                        member(
                                "v",
                                "{'type':'variant','selector-field-location':"
                                        + "['event-record-payload','tag'],'options':["
                                        + "{'name':'A','selector-field-ranges':[[0,0]],"
                                        + "'field-class':'u8'},"
                                        + "{'name':'B','selector-field-ranges':[[1,1]],"
                                        + "'field-class':{'type':'null-terminated-string'}}]}"));
        assertThat(only(payload, new CtfBits().le(1, 8).text("b")))
                .isEqualTo("e: { tag = ( \"B\" : container = 1 ), v = { \"b\" } }");
    }

    @Test
    void anExtensionIsRefused() {
        List<String> places =
                List.of(
                        fragments(
                                "{'type':'preamble','version':2,'extensions':"
                                        + "{'my.tracer':{'piano':null}}}"),
                        fragments(
                                "{'type':'preamble','version':2}",
                                "{'type':'field-class-alias','name':'a','field-class':"
                                        + U8.replace(
                                                "}", ",'extensions':{'my.tracer':{'piano':1}}}")
                                        + "}"));
        for (String metadata : places) {
            byte[] bytes = metadata.getBytes(StandardCharsets.UTF_8);
            assertThatThrownBy(() -> Read.open(Map.of("metadata", bytes)))
                    .isInstanceOf(MalformedInputException.class)
                    .hasMessageContaining("the extension piano of my.tracer is not known");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'trace-class'}",
                "{'type':'preamble','version':3}",
                "{'type':'preamble'",
                "{'type':'preamble','version':2}\u001e{'type':'preamble','version':2}",
                "{'type':'preamble','version':2}\u001e{'type':'other'}",
                "{'type':'preamble','version':2}\u001e{'type':'event-record-class'}",
                "{'type':'preamble','version':2}\u001e{'type':'clock-class','id':'c'}",
                "{'type':'preamble','version':2}\u001e{'type':'data-stream-class',"
                        + "'default-clock-class-id':'c'}",
                "{'type':'preamble','version':2}\u001e{'type':'trace-class',"
                        + "'packet-header-field-class':'none'}",
            })
    void brokenRulesAreRefused(String fragments) {
        byte[] bytes = ("\u001e" + fragments.replace('\'', '"')).getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> Read.open(Map.of("metadata", bytes)))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageStartingWith("ctf: metadata at byte");
    }

    @Test
    void deepNestingIsRefused() {
        String type = "{'type':'static-length-array','length':1,'element-field-class':";
        String metadata =
                fragments(
                        "{'type':'preamble','version':2}",
                        "{'type':'field-class-alias','name':'a','field-class':"
                                + type.repeat(70)
                                + U8
                                + "}".repeat(71));
        byte[] bytes = metadata.getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> Read.open(Map.of("metadata", bytes)))
                .isInstanceOf(MalformedInputException.class);
    }
}
