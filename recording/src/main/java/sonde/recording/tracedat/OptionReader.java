package sonde.recording.tracedat;

import java.io.IOException;
import java.util.Arrays;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;

/** Options: {u16 id, u32 size, bytes}*, the same in versions 6 and 7 but for where data lie. */
final class OptionReader {
    static final int MOST_OPTIONS = 100_000;
    static final int MOST_CPUS = 1 << 16;
    private static final int MOST_NAME_BYTES = 4096;

    private final TraceDatContent content;
    private final Pointers pointers;

    /** The options that say where something lies. */
    interface Pointers {
        /** BUFFER and BUFFER_TEXT. */
        void buffer(int id, FieldCursor option) throws IOException;

        /** The place of a metadata section. */
        void section(int id, long offset) throws IOException;
    }

    OptionReader(TraceDatContent content, Pointers pointers) {
        this.content = content;
        this.pointers = pointers;
    }

    /**
     * Reads options up to DONE, which in version 6 has no size.
     *
     * @return the offset of the next options section, 0 for none
     */
    long read(FieldCursor from, boolean version6) throws IOException {
        for (int i = 0; i < MOST_OPTIONS; i++) {
            if (!version6 && from.remaining() == 0) {
                return 0;
            }
            int id = from.u16("option id");
            if (id == TraceDatNumbers.DONE && version6) {
                return 0;
            }
            FieldCursor option =
                    new FieldCursor(
                            content.name,
                            from.slice("option " + id, from.u32("option size")),
                            content.order);
            if (id == TraceDatNumbers.DONE) {
                return option.remaining() >= 8 ? option.u64("next options") : 0;
            }
            tolerantly(id, option);
        }
        throw from.malformed("options", "more than " + MOST_OPTIONS);
    }

    /** An option that cannot be read does not hide the others. */
    private void tolerantly(int id, FieldCursor option) throws IOException {
        try {
            option(id, option);
        } catch (MalformedInputException e) {
            content.note("option " + id + " is skipped: " + e.reason());
        }
    }

    private void option(int id, FieldCursor option) throws IOException {
        switch (id) {
            case TraceDatNumbers.DATE -> content.timeOffset += number(option) * 1000;
            case TraceDatNumbers.OFFSET -> content.timeOffset += number(option);
            case TraceDatNumbers.CPUSTAT -> content.cpuStats.add(trimmed(rest(option)));
            case TraceDatNumbers.BUFFER, TraceDatNumbers.BUFFER_TEXT -> pointers.buffer(id, option);
            case TraceDatNumbers.TRACECLOCK -> {
                String clock = TraceDatContent.text(rest(option)).strip();
                content.clock = clock.isEmpty() ? content.clock : clock;
            }
            case TraceDatNumbers.UNAME -> content.uname = TraceDatContent.text(rest(option));
            case TraceDatNumbers.VERSION -> content.version = TraceDatContent.text(rest(option));
            case TraceDatNumbers.HOOK -> content.hooks.add(TraceDatContent.text(rest(option)));
            case TraceDatNumbers.PROCMAPS -> content.procMaps = rest(option);
            case TraceDatNumbers.CPUCOUNT ->
                    content.cpuCount =
                            option.bounded("CPU count", option.u32("CPU count"), MOST_CPUS);
            case TraceDatNumbers.TRACEID -> content.traceId = option.u64("trace id");
            case TraceDatNumbers.TIME_SHIFT ->
                    content.correction = content.correction.with(TimeShift.read(option));
            case TraceDatNumbers.GUEST -> content.guests.add(GuestOption.read(option));
            case TraceDatNumbers.TSC2NSEC ->
                    content.correction = content.correction.with(TimeCorrection.Tsc.read(option));
            case TraceDatNumbers.STRINGS -> {
                // Names of sections, for people who look at the file's structure.
            }
            case TraceDatNumbers.LAST_BOOT_INFO -> {
                String text = TraceDatContent.text(rest(option));
                int colon = text.indexOf(':');
                if (colon >= 0) {
                    content.lastBoots.put(text.substring(0, colon), text.substring(colon + 1));
                }
            }
            default -> {
                if (TraceDatNumbers.isPointer(id)) {
                    pointers.section(id, option.u64("section offset"));
                } else {
                    content.note(
                            "option "
                                    + id
                                    + " is unknown, its "
                                    + option.remaining()
                                    + " bytes are skipped");
                }
            }
        }
    }

    static String name(FieldCursor option, String field) throws MalformedInputException {
        return option.text(field, MOST_NAME_BYTES);
    }

    private static byte[] rest(FieldCursor option) throws MalformedInputException {
        return option.bytes("option", option.remaining());
    }

    private static byte[] trimmed(byte[] text) {
        int length = text.length;
        while (length > 0 && (text[length - 1] == 0 || text[length - 1] == '\n')) {
            length--;
        }
        return Arrays.copyOf(text, length);
    }

    /** DATE and OFFSET are numbers as text, decimal or 0x. */
    private static long number(FieldCursor option) throws MalformedInputException {
        String text = TraceDatContent.text(rest(option)).strip();
        try {
            return Long.decode(text);
        } catch (NumberFormatException e) {
            throw option.malformed("time offset", text);
        }
    }
}
