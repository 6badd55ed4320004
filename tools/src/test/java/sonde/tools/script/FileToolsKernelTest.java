package sonde.tools.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tools for files see what this process does with files. */
@Tag("kernel")
class FileToolsKernelTest {
    @TempDir Path folder;

    @Test
    void opensnoopShowsWhatWasOpenedAndWhatCameOfIt() throws Exception {
        Path there = Files.writeString(folder.resolve("there"), "x");
        String printed =
                ToolRun.see(
                        "opensnoop",
                        "cat +-1   2 " + folder + "/absent",
                        () -> ToolRun.shell("cat " + there + " " + folder + "/absent"));
        assertThat(printed).containsPattern("cat +3   0 " + there);
    }

    @Test
    void opensnoopShowsWhatIsAskedFor() throws Exception {
        Path there = Files.writeString(folder.resolve("there"), "x");
        String failed =
                ToolRun.see(
                        "opensnoop",
                        "cat +-1   2 " + folder + "/absent",
                        () -> ToolRun.shell("cat " + there + " " + folder + "/absent"),
                        "--failed",
                        "--name=ca");
        assertThat(failed).doesNotContain(there.toString()).doesNotContain("sh ");
        String written =
                ToolRun.see(
                        "opensnoop",
                        ":[0-9]{2} +0 [0-9]+ +sh +3   0 0x[0-9a-f]*1 +" + folder + "/made",
                        () -> ToolRun.shell("cat " + there + " > " + folder + "/made"),
                        "-TUe",
                        "--flag=O_WRONLY");
        assertThat(written).contains("UID", "FLAGS").doesNotContain(there.toString(), "TID");
    }

    @Test
    void statsnoopShowsWhatWasLookedAt() throws Exception {
        ToolRun.see(
                "statsnoop",
                "stat +2 " + folder + "/absent",
                () -> ToolRun.shell("stat " + folder + "/absent"),
                "--name=stat");
    }

    @Test
    void syncsnoopShowsAnFsync() throws Exception {
        ToolRun.see(
                "syncsnoop",
                "dd +fsync +0 +[0-9]+\\.[0-9]{3}",
                () ->
                        ToolRun.shell(
                                "dd if=/dev/zero bs=4k count=4 conv=fsync of=" + folder + "/f"));
    }

    @Test
    void fileslowerShowsAReadOfAFile() throws Exception {
        Files.write(folder.resolve("slow-file"), new byte[100]);
        ToolRun.see(
                "fileslower",
                "cat +R +100 +[0-9]+\\.[0-9]{3} slow-file",
                () -> ToolRun.shell("cat " + folder + "/slow-file"),
                "--slower=0");
    }

    @Test
    void filetopCountsBytesOfFiles() throws Exception {
        String printed =
                ToolRun.see(
                        "filetop",
                        "dd +0 +16 +0 +64 top-file",
                        () ->
                                ToolRun.shell(
                                        "cd "
                                                + folder
                                                + " && dd if=/dev/zero bs=4k count=16"
                                                + " of=top-file && cat top-file"));
        assertThat(printed).containsPattern("cat +[1-9][0-9]* +0 +64 +0 top-file");
    }

    @Test
    void filelifeShowsAFileThatIsGone() throws Exception {
        ToolRun.see(
                "filelife",
                "rm +[0-9]+\\.[0-9]{3} " + folder + "/brief",
                () -> ToolRun.shell("echo x > " + folder + "/brief; rm " + folder + "/brief"));
    }

    @Test
    void cachestatCountsPagesReadAndMissed() throws Exception {
        String printed =
                ToolRun.see(
                        "cachestat",
                        ":[0-9]{2} +[1-9][0-9]* +[0-9]+ +[1-9]",
                        () ->
                                ToolRun.shell(
                                        "cd "
                                                + folder
                                                + " && dd if=/dev/zero bs=64k count=32"
                                                + " of=pages conv=fsync"
                                                // Without its pages, the file must be read in.
                                                + " && dd of=pages oflag=nocache"
                                                + " conv=notrunc,fdatasync count=0"
                                                + " && cat pages pages"));
        assertThat(printed).startsWith("TIME");
        // 32 times 64 KiB are 512 pages, in however large folios.
        Matcher counts = Pattern.compile(" +(\\d+) +\\d+ *\n").matcher(printed);
        long dirtied = counts.results().mapToLong(one -> Long.parseLong(one.group(1))).sum();
        assertThat(dirtied).isGreaterThanOrEqualTo(512);
    }
}
