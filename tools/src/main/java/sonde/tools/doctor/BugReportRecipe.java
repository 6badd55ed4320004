package sonde.tools.doctor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.ZstdLibrary;
import sonde.event.result.Column;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.sys.FileCalls;

/**
 * What somebody who looks for a fault of sonde has to know of the machine. No name of a host, a
 * user, a file or a process of this machine is in it.
 */
public final class BugReportRecipe {
    private static final int FILE_LIMIT = 4096;

    private BugReportRecipe() {}

    /** The program's build, libraries and kernel, then what {@code sonde doctor} finds. */
    public static Report make(String version) {
        Report doctor = DoctorRecipe.examine();
        List<Result> sections = new ArrayList<>(List.of(build(version)));
        doctor.sections().stream()
                .filter(one -> !(one instanceof Table table && table.title().equals("leftovers")))
                .forEach(sections::add);
        String note =
                "No name of a host, a user, a file or a process of this machine is in this report.";
        return new Report("sonde " + version, List.of(note), sections);
    }

    /** Version, libraries and kernel: {@code sonde --version -v}. */
    public static Table build(String version) {
        String home = System.getProperty("sonde.home", "");
        List<List<@Nullable Object>> rows = new ArrayList<>();
        rows.add(List.of("version", version));
        rows.add(List.of("build", text(home + "/app/build-id").replaceFirst(" .*", "")));
        rows.add(
                List.of(
                        "start-up cache",
                        Files.exists(Path.of(home, "app/start.aot"))
                                ? "made at installation"
                                : "made for each user"));
        rows.add(List.of("Java", System.getProperty("java.vm.version", "unknown")));
        rows.add(List.of("zstd", zstd()));
        boolean sql = Files.exists(Path.of(home, "app/libduckdb.so"));
        rows.add(List.of("SQL", sql ? "yes" : "no; the package sonde-sql has it"));
        rows.add(
                List.of(
                        "kernel",
                        text("/proc/sys/kernel/osrelease")
                                + " "
                                + text("/proc/sys/kernel/version")
                                + " "
                                + System.getProperty("os.arch", "")));
        rows.add(List.of("types of the kernel (BTF)", isThere("/sys/kernel/btf/vmlinux")));
        rows.add(List.of("tracefs", isThere("/sys/kernel/tracing/events")));
        rows.add(List.of("distribution", distribution()));
        rows.add(List.of("CPUs", String.valueOf(Runtime.getRuntime().availableProcessors())));
        rows.add(
                List.of(
                        "memory",
                        text("/proc/meminfo").replaceFirst("(?s)^\\S+\\s+(.*?)\\n.*", "$1")));
        return new Table("build", List.of(Column.text("what"), Column.text("here")), rows);
    }

    private static String zstd() {
        try {
            ZstdLibrary.get();
            return "yes";
        } catch (IOException e) {
            return "no: " + e.getMessage();
        }
    }

    private static String isThere(String file) {
        return Files.isReadable(Path.of(file)) ? "yes" : "not readable by this user";
    }

    private static String distribution() {
        return text("/etc/os-release")
                .lines()
                .filter(line -> line.startsWith("PRETTY_NAME="))
                .map(line -> line.substring(12).replace("\"", ""))
                .findFirst()
                .orElse("unknown");
    }

    private static String text(String file) {
        try {
            return new String(FileCalls.readAll(file, FILE_LIMIT), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
