package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.MapStyle;
import sonde.lang.output.MapRows.RowForm;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.TextType;

/** Lines below a head line as objects. */
final class HeadedRowsTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private ScriptOutput output =
            new JsonOutput(out, new MachineNames(), MapStyle.USUAL, RowStyle.PLAIN);

    /** Numbers are int32, texts have room for 8 bytes, those of one letter are literals. */
    private void print(String format, Object... values) throws FormatException {
        List<ValueType> types = new ArrayList<>();
        for (Object value : values) {
            boolean literal = value instanceof String text && text.length() == 1;
            types.add(value instanceof Integer ? IntType.I32 : new TextType(literal ? 2 : 8));
        }
        TupleType arguments = TupleType.of(types);
        byte[] bytes = new byte[arguments.sizeBytes()];
        for (int i = 0; i < values.length; i++) {
            int at = arguments.fields().get(i).offsetBytes();
            byte[] value =
                    values[i] instanceof Integer number
                            ? Little.bytes().i32(number).get()
                            : ((String) values[i]).getBytes(StandardCharsets.UTF_8);
            System.arraycopy(value, 0, bytes, at, value.length);
        }
        output.printf(PrintFormat.parse(format), arguments, bytes, 0);
    }

    private String printed() {
        output.flush();
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aConversionAloneKeepsItsType() throws Exception {
        print("%-8s %-5s %s %s\n", "PID", "COMM", "TIME", "ARGS");
        print("%-8d %-5s %3d.%03d 0x%-4x %s\n", 7, " a\" b ", 1, 20, 255, "x\ny");
        assertThat(printed())
                .isEqualTo(
                        "{\"pid\": 7, \"comm\": \" a\\\" b \", \"time\": 1.020,"
                                + " \"args\": \"0xff x\\ny\"}\n");
    }

    @Test
    void commaSeparatedValues() throws Exception {
        MapStyle style = new MapStyle(MapOrder.DEFAULT, RowForm.CSV);
        TextOutput csv = new TextOutput(out, out, new MachineNames(), style, RowStyle.PLAIN);
        output = csv;
        print("%-8s %-5s %s %s\n", "PID", "COMM", "TIME(ms)", "ARGS");
        print("%-8d %-5s %3d.%03d 0x%-4x %s\n", 7, "a\" b", 1, 20, 255, "x,y");
        csv.end();
        assertThat(printed())
                .isEqualTo("pid,comm,time_ms,args\n7,\"a\"\" b\",1.020,\"0xff x,y\"\n");
    }

    /** A file may be called as it likes: its name is one value of one line. */
    @Test
    void noValueForgesALine() throws Exception {
        MapStyle tool = MapStyle.USUAL.ofTool(false, "");
        output = new TextOutput(out, out, new MachineNames(), tool, RowStyle.PLAIN);
        print("%-8s %s\n", "PID", "PATH");
        print("%-8d %s\n", 7, "a\n8\tb\033");
        output.cat("0.1\n0.2\n");
        assertThat(printed()).isEqualTo("PID      PATH\n7        a\\n8\\tb\\x1b\n0.1\n0.2\n");
        out.reset();
        MapStyle csv = new MapStyle(MapOrder.DEFAULT, RowForm.CSV).ofTool(false, "");
        output = new TextOutput(out, out, new MachineNames(), csv, RowStyle.PLAIN);
        print("%-8s %s\n", "PID", "PATH");
        print("%-8d %s\n", 7, "\"\n8\033\r");
        assertThat(printed()).isEqualTo("pid,path\n7,\"\"\"\n8\\x1b\\x0d\"\n");
    }

    @Test
    void headingsBecomeKeys() {
        assertThat(HeadedRows.columns("AT(ms)  HIT%  TX_KB SOURCE -> TARGET\n"))
                .containsExactly("at_ms", "hit_percent", "tx_kb", "source", "target");
    }

    @Test
    void whatHoldsNoValueIsNull() throws Exception {
        print("PORT FROM -> TO LOAD\n");
        print("%5s %s -> %s ", "-", "-x", "b c");
        output.cat("0.1 0.2\n");
        print("%5d %s -> %s\n", 80, "a", "");
        assertThat(printed())
                .isEqualTo(
                        """
                        {"port": null, "from": "-x", "to": "b c", "load": "0.1 0.2"}
                        {"port": 80, "from": "a", "to": "", "load": null}
                        """);
    }

    private TextOutput text(RowStyle style) {
        return new TextOutput(out, out, new MachineNames(), MapStyle.USUAL, style);
    }

    private void lists() throws FormatException {
        print("%-8s %-4s %6s %s\n", "NAME", "UID", "KIB", "FILE");
        print("%-8s %-4d %6d %s\n", "small", 7, 1, "one");
        print("%-8s %-4d %6d %s\n", "large", 8, 3, "two");
        print("%-8s %-4d %6d %s\n", "middle", 9, 2, "three");
        print("\n");
        print("%-8s %-4d %6d %s\n", "next", 7, 1, "one");
    }

    @Test
    void listsAreInOrderAndColumnsHidden() throws Exception {
        TextOutput people = text(new RowStyle(List.of("KIB"), 2, false, Set.of("UID")));
        output = people;
        lists();
        people.end();
        assertThat(printed())
                .startsWith(
                        """
                        NAME        KIB FILE
                        large         3 two
                        middle        2 three

                        next          1 one
                        """);
    }

    @Test
    void aListTakesThePlaceOfTheOneBefore() throws Exception {
        output = text(new RowStyle(List.of("KIB"), 1, true, Set.of()));
        lists();
        assertThat(printed())
                .isEqualTo(
                        """
                        NAME     UID     KIB FILE
                        \033[H\033[2JNAME     UID     KIB FILE
                        large    8         3 two

                        """);
    }

    @Test
    void objectsHaveAllColumnsAndNoLists() throws Exception {
        RowStyle style = new RowStyle(List.of("KIB"), 1, true, Set.of("UID"));
        output = new JsonOutput(out, new MachineNames(), MapStyle.USUAL, style);
        lists();
        assertThat(printed())
                .isEqualTo("{\"name\": \"large\", \"uid\": 8, \"kib\": 3, \"file\": \"two\"}\n");
    }

    /** An order is of the lists that have its column. */
    @Test
    void linesWithoutTheColumnComeOneByOne() throws Exception {
        output = text(new RowStyle(List.of("TIMES"), 1, false, Set.of("NAME")));
        lists();
        assertThat(printed())
                .isEqualTo(
                        """
                        UID     KIB FILE
                        7         1 one
                        8         3 two
                        9         2 three

                        7         1 one
                        """);
    }
}
