package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Wrong arguments and broken files: one clear line, the right exit code, nothing left behind. */
@Tag("product")
class BadInputTest {
    @TempDir Path folder;

    private Sonde.Outcome sonde(String... args) throws Exception {
        return Sonde.in(folder).run(args);
    }

    private void assertNothingLeft() throws Exception {
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left.filter(file -> file.toString().endsWith(".sonde"))).isEmpty();
        }
    }

    private static void assertOneClearError(Sonde.Outcome outcome, int status) {
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(status);
        assertThat(outcome.err()).startsWith("sonde: ").doesNotContain("\tat ", "Exception");
        assertThat(outcome.err().lines().count()).isLessThanOrEqualTo(3);
    }

    @Test
    void unknownOption() throws Exception {
        Sonde.Outcome outcome = sonde("record", "--frequenzy", "99", "--", "true");
        assertOneClearError(outcome, 2);
        assertNothingLeft();
    }

    @Test
    void unknownCommand() throws Exception {
        Sonde.Outcome outcome = sonde("recrod", "--", "true");
        assertOneClearError(outcome, 2);
        assertThat(outcome.err()).contains("record");
    }

    @Test
    @Tag("tracefs")
    void unknownEventNamesTheNearest() throws Exception {
        Sonde.Outcome outcome = sonde("record", "-e", "sched:sched_swich", "--", "true");
        assertOneClearError(outcome, 2);
        assertThat(outcome.err()).contains("sched:sched_switch");
        assertNothingLeft();
    }

    @Test
    void missingCommand() throws Exception {
        assertOneClearError(sonde("record"), 2);
        assertOneClearError(sonde("record", "--"), 2);
        assertNothingLeft();
    }

    @Test
    void commandThatIsNotThere() throws Exception {
        Sonde.Outcome outcome = sonde("record", "--", "sonde-no-such-command");
        assertOneClearError(outcome, 127);
        assertThat(outcome.err()).contains("sonde-no-such-command");
        assertNothingLeft();
    }

    @Test
    void commandThatMayNotBeRun() throws Exception {
        Path file = Files.writeString(folder.resolve("plain"), "no program");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertOneClearError(sonde("record", "--", file.toString()), 126);
        assertNothingLeft();
    }

    @Test
    void processThatDoesNotExist() throws Exception {
        Sonde.Outcome outcome = sonde("record", "-p", "4194000", "--duration", "1");
        assertOneClearError(outcome, 3);
        assertThat(outcome.err()).contains("4194000");
        assertNothingLeft();
    }

    @Test
    void folderThatCannotBeWritten() throws Exception {
        Sonde.Outcome outcome = sonde("record", "-o", "/proc/sonde-test", "--", "true");
        assertOneClearError(outcome, 3);
        assertThat(outcome.err()).contains("no folder can be made in /proc");
    }

    @Test
    void targetThatDiesAtOnce() throws Exception {
        Sonde.Outcome outcome = sonde("record", "-o", "dies", "--", "/bin/sh", "-c", "kill -9 $$");
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(137);
        assertThat(sonde("report", "dies.sonde").status()).isZero();
    }

    @Test
    void statusOfTheCommandIsReturned() throws Exception {
        assertThat(sonde("record", "-o", "seven", "--", "/bin/sh", "-c", "exit 7").status())
                .isEqualTo(7);
    }

    @Test
    void fileThatIsNoRecording() throws Exception {
        Path text = Files.writeString(folder.resolve("notes.txt"), "no recording\n".repeat(100));
        assertOneClearError(sonde("report", text.toString()), 4);
        assertOneClearError(
                sonde("report", Files.createFile(folder.resolve("empty")).toString()), 4);
        assertOneClearError(sonde("report", folder.resolve("absent").toString()), 2);
        assertOneClearError(sonde("report", "/dev/zero"), 4);
    }

    @Test
    void argumentsThatMeanNothing() throws Exception {
        assertOneClearError(sonde("record", "--ring-memory", "0", "--", "true"), 2);
        assertOneClearError(sonde("record", "-o", "", "--", "true"), 2);
        assertOneClearError(sonde("record", "--duration", "0", "--", "true"), 2);
        assertOneClearError(sonde("report", "--rows", "0", "x.sonde"), 2);
        assertOneClearError(sonde("report", "--html", "x.html", "--json", "x.sonde"), 2);
        assertNothingLeft();
    }

    @Test
    void messagesNameTheFileAndWhatToDo() throws Exception {
        Path empty = Files.createDirectory(folder.resolve("no-meta"));
        assertThat(sonde("report", empty.toString()).err())
                .contains("no-meta")
                .contains("meta.json is missing")
                .doesNotContain("byte -1");
        Path broken = Files.createDirectory(folder.resolve("broken"));
        Files.writeString(broken.resolve("meta.json"), "{\"x");
        assertThat(sonde("report", broken.toString()).err()).contains("broken", "meta.json");
        Path none = Files.createFile(folder.resolve("none.dat"));
        assertThat(sonde("report", none.toString()).err()).contains("none.dat: is empty");
        assertThat(sonde("record", "-o", "/no/such/folder", "--", "true").err())
                .contains("/no/such")
                .contains("make it")
                .doesNotContain("openat(");
        assertThat(sonde("report", "--debug", none.toString()).err()).contains("\tat ");
    }

    @Test
    @Tag("tracefs")
    void filtersThatLeaveNothingAreANegativeAnswer() throws Exception {
        assertThat(sonde("record", "-o", "small", "--", "ls", "/").status()).isZero();
        for (String[] filter :
                new String[][] {
                    {"--comm", "nosuch"},
                    {"--thread", "999999"},
                    {"--time", "100,200"},
                    {"--events", "--comm", "nosuch"},
                    {"--events", "--event", "nosuch:*"},
                    {"--stats", "--event", "sched:sched_swich"}
                }) {
            String[] arguments = new String[filter.length + 2];
            arguments[0] = "report";
            System.arraycopy(filter, 0, arguments, 1, filter.length);
            arguments[filter.length + 1] = "small.sonde";
            assertOneClearError(sonde(arguments), 1);
        }
        assertThat(sonde("report", "--stats", "--event", "sched:sched_swich", "small.sonde").err())
                .contains("sched:sched_switch");
    }

    @Test
    void aPageThatIsThereIsKept() throws Exception {
        assertThat(sonde("record", "-o", "paged", "--", "ls", "/").status()).isZero();
        Path page = Files.writeString(folder.resolve("page.html"), "mine");
        Sonde.Outcome refused = sonde("report", "paged.sonde", "--html", page.toString());
        assertOneClearError(refused, 2);
        assertThat(refused.err()).contains("--force");
        assertThat(page).hasContent("mine");
        Sonde.Outcome forced = sonde("report", "paged.sonde", "--html", page.toString(), "--force");
        assertThat(forced.status()).as("%s", forced).isZero();
        assertThat(Files.readString(page)).startsWith("<!doctype html>");
        Sonde.Outcome out = sonde("report", "paged.sonde", "--html", "-");
        assertThat(out.out()).startsWith("<!doctype html>").contains("</html>");
        assertThat(out.err()).isEmpty();
    }

    @Test
    void textFollowsTheLocale() throws Exception {
        assertThat(sonde("record", "-o", "plain", "--", "ls", "/").status()).isZero();
        Sonde.Outcome ascii =
                Sonde.in(folder)
                        .with(java.util.Map.of("LC_ALL", "C"))
                        .run("report", "plain.sonde", "--oncpu", "--syscalls", "--threads");
        assertThat(ascii.out()).matches("(?s)\\p{ASCII}*").contains("us");
        assertThat(ascii.out().lines().filter(line -> line.startsWith("  "))).isNotEmpty();
    }

    @Test
    void damagedRecordingIsReadAsFarAsItGoes() throws Exception {
        assertThat(sonde("record", "-o", "cut", "--", "ls", "/").status()).isZero();
        Path bundle = folder.resolve("cut.sonde");
        try (RandomAccessFile perf =
                new RandomAccessFile(bundle.resolve("perf.data").toFile(), "rw")) {
            perf.setLength(perf.length() / 2);
        }
        Sonde.Outcome outcome = sonde("report", bundle.toString());
        assertThat(outcome.status()).as("%s", outcome).isIn(0, 4);
        assertThat(outcome.out() + outcome.err()).contains("perf.data");
        try (RandomAccessFile trace =
                new RandomAccessFile(bundle.resolve("trace.dat").toFile(), "rw")) {
            trace.seek(8);
            trace.write(new byte[4096]);
        }
        Sonde.Outcome corrupt = sonde("report", bundle.toString());
        assertThat(corrupt.status()).as("%s", corrupt).isIn(0, 4);
        assertThat(corrupt.err()).doesNotContain("Exception");
    }
}
