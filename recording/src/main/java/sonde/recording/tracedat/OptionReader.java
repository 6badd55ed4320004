package sonde.recording.tracedat;

import java.io.IOException;
import java.util.Arrays;
import sonde.binary.Cursor;
import sonde.binary.MalformedInputException;

/** Options: {u16 id, u32 size, bytes}*, the same in versions 6 and 7 but for where data lie. */
final class OptionReader {
    static final int MOST_OPTIONS = 100_000;
    static final int MOST_CPUS = 1 << 16;
    private static final int MOST_NAME_BYTES = 4096;

    private final Content content;
    private final Pointers pointers;

    /** The options that say where something lies. */
    interface Pointers {
        /** BUFFER and BUFFER_TEXT. */
        void buffer(int id, Cursor option) throws IOException;

        /** The place of a metadata section. */
        void section(int id, long offset) throws IOException;
    }

    OptionReader(Content content, Pointers pointers) {
        this.content = content;
        this.pointers = pointers;
    }

    /**
     * Reads options up to DONE, which in version 6 has no size.
     *
     * @return the offset of the next options section, 0 for none
     */
    long read(Cursor from, boolean version6) throws IOException {
        for (int i = 0; i < MOST_OPTIONS; i++) {
            if (!version6 && from.remaining() == 0) {
                return 0;
            }
            int id = from.u16("option id");
            if (id == Section.DONE && version6) {
                return 0;
            }
            Cursor option =
                    new Cursor(
                            content.name,
                            from.slice("option " + id, from.u32("option size")),
                            content.order);
            if (id == Section.DONE) {
                return option.remaining() >= 8 ? option.u64("next options") : 0;
            }
            tolerantly(id, option);
        }
        throw from.malformed("options", "more than " + MOST_OPTIONS);
    }

    /** An option that cannot be read does not hide the others. */
    private void tolerantly(int id, Cursor option) throws IOException {
        try {
            option(id, option);
        } catch (MalformedInputException e) {
            content.note("option " + id + " is skipped: " + e.reason());
        }
    }

    private void option(int id, Cursor option) throws IOException {
        switch (id) {
            case Section.DATE -> content.timeOffset += number(option) * 1000;
            case Section.OFFSET -> content.timeOffset += number(option);
            case Section.CPUSTAT -> content.cpuStats.add(trimmed(rest(option)));
            case Section.BUFFER, Section.BUFFER_TEXT -> pointers.buffer(id, option);
            case Section.TRACECLOCK -> {
                String clock = Content.text(rest(option)).strip();
                content.clock = clock.isEmpty() ? content.clock : clock;
            }
            case Section.UNAME -> content.uname = Content.text(rest(option));
            case Section.VERSION -> content.version = Content.text(rest(option));
            case Section.HOOK -> content.hooks.add(Content.text(rest(option)));
            case Section.PROCMAPS -> content.procMaps = rest(option);
            case Section.CPUCOUNT ->
                    content.cpuCount =
                            option.bounded("CPU count", option.u32("CPU count"), MOST_CPUS);
            case Section.TRACEID -> content.traceId = option.u64("trace id");
            case Section.TIME_SHIFT ->
                    content.correction = content.correction.with(TimeShift.read(option));
            case Section.GUEST -> content.guests.add(Guest.read(option));
            case Section.TSC2NSEC ->
                    content.correction = content.correction.with(TimeCorrection.Tsc.read(option));
            case Section.STRINGS -> {
                // Names of sections, for people who look at the file's structure.
            }
            case Section.LAST_BOOT_INFO -> {
                String text = Content.text(rest(option));
                int colon = text.indexOf(':');
                if (colon >= 0) {
                    content.lastBoots.put(text.substring(0, colon), text.substring(colon + 1));
                }
            }
            default -> {
                if (Section.isPointer(id)) {
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

    static String name(Cursor option, String field) throws MalformedInputException {
        return option.text(field, MOST_NAME_BYTES);
    }

    private static byte[] rest(Cursor option) throws MalformedInputException {
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
    private static long number(Cursor option) throws MalformedInputException {
        String text = Content.text(rest(option)).strip();
        try {
            return Long.decode(text);
        } catch (NumberFormatException e) {
            throw option.malformed("time offset", text);
        }
    }
}
