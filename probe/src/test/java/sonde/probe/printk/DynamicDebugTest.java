package sonde.probe.printk;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.probe.printk.KernelLog.LogRecord;

class DynamicDebugTest {
    private static PrintSite site(String line) {
        return PrintSite.parse(line).orElseThrow();
    }

    @Test
    void linesOfControlAreRead() {
        assertThat(
                        site(
                                "fs/a b.c:12 [my_mod]f.part.0 =pmf \"x: \\\"%s\\\"\\012\" class:DRM_UT_KMS"))
                .isEqualTo(
                        new PrintSite(
                                "fs/a b.c",
                                12,
                                "my_mod",
                                "f.part.0",
                                "pmf",
                                "x: \\\"%s\\\"\\012",
                                "DRM_UT_KMS"));
        assertThat(site("a.c:1 [m]f =_ \"\"").flags()).isEmpty();
        assertThat(PrintSite.parse("# filename:lineno [module]function flags format")).isEmpty();
        assertThat(PrintSite.parse("a.c:99999999999 [m]f =_ \"\"")).isEmpty();
        assertThat(PrintSite.parse("")).isEmpty();
    }

    @Test
    void onlyWhatChangesIsWrittenAndUndone() {
        List<PrintSite> sites =
                List.of(
                        site("a.c:1 [m]f =_ \"x\""),
                        site("a.c:2 [m]f =p \"x\""),
                        site("a.c:3 [m]g =pm \"x\""),
                        site("h.h:4 [m]h =_ \"x\""),
                        site("h.h:4 [m]h =_ \"x\""),
                        site("d.c:5 [drm]d =_ \"x\" class:DRM_UT_CORE"));
        assertThat(DynamicDebug.queries(sites, true, "pm"))
                .isEqualTo(
                        List.of(
                                "module m file a.c line 1 func f +pm",
                                "module m file a.c line 2 func f +m",
                                "module m file h.h line 4 func h +pm",
                                "module drm file d.c line 5 func d class DRM_UT_CORE +pm"));
        assertThat(DynamicDebug.undo(sites, true, "pm"))
                .contains("module m file a.c line 2 func f -m")
                .noneMatch(query -> query.contains("line 3"));
        assertThat(DynamicDebug.queries(sites, false, "p"))
                .isEqualTo(
                        List.of(
                                "module m file a.c line 2 func f -p",
                                "module m file a.c line 3 func g -p"));
    }

    private static LogRecord record(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        return KernelLog.parse(bytes, bytes.length).orElseThrow();
    }

    @Test
    void recordsOfTheLogAreRead() {
        LogRecord one =
                record("7,373,3368969,-,caller=T12;usb: caf\\xc3\\xa9 \\x1b[1m\n SUBSYSTEM=usb\n");
        assertThat(one).isEqualTo(new LogRecord(7, 373, 3368969, "T12", "usb: café \u001b[1m"));
        assertThat(one.line()).startsWith("[    3.368969] [   T12] usb: café");
        // Facility 1 (user), level 4.
        assertThat(record("12,1,5,-;x").level()).isEqualTo(4);
        assertThat(record("6,1,5,c;a;b\\x").text()).isEqualTo("a;b\\x");
        for (String bad : List.of("", ";", "x,y,z;t", "6,1;t", "99999999999,1,1;t")) {
            assertThat(KernelLog.parse(bad.getBytes(StandardCharsets.US_ASCII), bad.length()))
                    .as(bad)
                    .isEmpty();
        }
    }
}
