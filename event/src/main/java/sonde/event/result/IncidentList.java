package sonde.event.result;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Incidents of a kernel's log.
 *
 * @param incidents what is known of each, as {@code sonde explain --json} prints it; a page adds
 *     {@code label}, {@code time}, {@code where}, {@code who}, {@code on} and {@code lines}
 * @param shown a row for each
 */
public record IncidentList(String title, List<Map<String, @Nullable Object>> incidents, Table shown)
        implements Result {}
