package sonde.recording.ftrace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import sonde.event.EventType;
import sonde.event.Field;

/**
 * The event types of a recording, numbered: first the notices that the page reader makes, then the
 * kernel's in the order given.
 */
public final class FtraceTypeTable {
    /** Index of {@code notice:lost}. */
    public static final int LOST = 0;

    /** Index of {@code notice:corrupt}. */
    public static final int CORRUPT = 1;

    /** Index of {@code notice:unknown}: an event whose format the recording lacks. */
    public static final int UNKNOWN = 2;

    private final PageLayout layout;
    private final List<EventType> types;
    private final int[] indexOfKernelId;
    private final int[] fixedBytes;
    private final int pidOffset;

    private FtraceTypeTable(
            PageLayout layout,
            List<EventType> types,
            int[] indexOfKernelId,
            int[] fixedBytes,
            int pidOffset) {
        this.layout = layout;
        this.types = types;
        this.indexOfKernelId = indexOfKernelId;
        this.fixedBytes = fixedBytes;
        this.pidOffset = pidOffset;
    }

    /**
     * Numbers formats.
     *
     * @param formats by system, "ftrace" among them; the first format of an id counts
     */
    public static FtraceTypeTable of(Map<String, List<EventFormat>> formats, PageLayout layout) {
        List<EventType> types = new ArrayList<>();
        for (String notice : List.of("lost", "corrupt", "unknown")) {
            types.add(new EventType(types.size(), EventType.NOTICE, notice, List.of(), ""));
        }
        int[] indexOfKernelId = new int[1 << 16];
        Arrays.fill(indexOfKernelId, UNKNOWN);
        List<Integer> fixed = new ArrayList<>(List.of(0, 0, 0));
        int pidOffset = -1;
        for (Map.Entry<String, List<EventFormat>> system : formats.entrySet()) {
            for (EventFormat format : system.getValue()) {
                if (indexOfKernelId[format.id()] != UNKNOWN) {
                    continue;
                }
                indexOfKernelId[format.id()] = types.size();
                types.add(format.toType(types.size(), system.getKey()));
                fixed.add(format.fixedBytes());
                pidOffset = pidOffset < 0 ? pidOffset(format) : pidOffset;
            }
        }
        int[] fixedBytes = fixed.stream().mapToInt(Integer::intValue).toArray();
        return new FtraceTypeTable(
                layout,
                List.copyOf(types),
                indexOfKernelId,
                fixedBytes,
                pidOffset < 0 ? 4 : pidOffset);
    }

    private static int pidOffset(EventFormat format) {
        for (Field field : format.fields()) {
            if (field.name().equals("common_pid") && field.sizeBytes() == 4) {
                return field.offset();
            }
        }
        return -1;
    }

    /** How pages of this recording begin. */
    public PageLayout layout() {
        return layout;
    }

    /** Every type; {@link EventType#id()} is the index. */
    public List<EventType> types() {
        return types;
    }

    /** The kernel's number to our index, for every u16. */
    int[] indexOfKernelId() {
        return indexOfKernelId;
    }

    /** Bytes that the payload of a type must have, by index. */
    int[] fixedBytes() {
        return fixedBytes;
    }

    /** Offset of {@code common_pid}. */
    int pidOffset() {
        return pidOffset;
    }
}
