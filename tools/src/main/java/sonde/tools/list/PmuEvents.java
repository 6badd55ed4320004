package sonde.tools.list;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Events that the drivers of counters name in sysfs
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-events).
 */
final class PmuEvents {
    private static final int MOST_BYTES = 4096;

    private final Path devices;

    PmuEvents(Path devices) {
        this.devices = devices;
    }

    /**
     * An event of a driver.
     *
     * @param name {@code cpu/branch-misses/}
     * @param text the terms that perf sets, and the unit of what is counted
     */
    record PmuEvent(String name, String text) {}

    List<PmuEvent> all() {
        List<PmuEvent> events = new ArrayList<>();
        for (Path device : entries(devices)) {
            for (Path event : entries(device.resolve("events"))) {
                String name = event.getFileName().toString();
                if (!name.matches(".*\\.(scale|unit|per-pkg|snapshot)")) {
                    String scale = text(event.resolveSibling(name + ".scale"));
                    String unit = text(event.resolveSibling(name + ".unit"));
                    String counted = scale.isEmpty() && unit.isEmpty() ? "" : "; in " + scale;
                    events.add(
                            new PmuEvent(
                                    device.getFileName() + "/" + name + "/",
                                    text(event) + counted + (unit.isEmpty() ? "" : " " + unit)));
                }
            }
        }
        return events;
    }

    /**
     * Whether a driver counts the events of CPUs; those of hybrid CPUs and Arm have other names.
     */
    boolean hasCpu() {
        return entries(devices).stream()
                .map(device -> device.getFileName().toString())
                .anyMatch(name -> name.matches("cpu(_core|_atom)?|armv\\d.*|riscv.*"));
    }

    private static List<Path> entries(Path folder) {
        try (Stream<Path> found = Files.list(folder)) {
            return found.sorted().toList();
        } catch (IOException e) {
            return List.of(); // a driver that names no events
        }
    }

    private static String text(Path file) {
        try {
            return Files.isRegularFile(file) && Files.size(file) <= MOST_BYTES
                    ? Files.readString(file).strip()
                    : "";
        } catch (IOException e) {
            return "";
        }
    }
}
