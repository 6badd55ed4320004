package sonde.recording.tracedat;

import java.util.ArrayList;
import java.util.List;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;

/** The parts of a trace.dat that describe events, alike in versions 6 and 7. */
final class MetadataSections {
    private static final int MOST_FORMATS = 100_000;
    private static final int MOST_NAME_BYTES = 4096;

    private final TraceDatContent content;

    MetadataSections(TraceDatContent content) {
        this.content = content;
    }

    /** Reads the content of a section of version 7. */
    void read(int id, FieldCursor from) throws MalformedInputException {
        switch (id) {
            case TraceDatNumbers.HEADER_INFO -> headerInfo(from);
            case TraceDatNumbers.FTRACE_EVENTS -> ftraceFormats(from);
            case TraceDatNumbers.EVENT_FORMATS -> eventFormats(from);
            case TraceDatNumbers.KALLSYMS -> kallsyms(from);
            case TraceDatNumbers.PRINTK -> printk(from);
            case TraceDatNumbers.CMDLINES -> cmdlines(from);
            case TraceDatNumbers.BTF_FILE -> content.btf = from.bytes("BTF", from.remaining());
            case TraceDatNumbers.MODULES_FILE ->
                    content.modules = from.bytes("modules", from.remaining());
            default -> throw from.malformed("section", Integer.toString(id));
        }
    }

    void headerInfo(FieldCursor from) throws MalformedInputException {
        tagged(from, "header_page");
        content.headerPage = from.bytes("header_page", from.u64("header_page size"));
        tagged(from, "header_event");
        content.headerEvent = from.bytes("header_event", from.u64("header_event size"));
    }

    private static void tagged(FieldCursor from, String tag) throws MalformedInputException {
        String found = from.text(tag, tag.length() + 1);
        if (!found.equals(tag)) {
            throw from.malformed(tag, found);
        }
    }

    void ftraceFormats(FieldCursor from) throws MalformedInputException {
        formats(from, "ftrace format", content.ftraceFormats);
    }

    void eventFormats(FieldCursor from) throws MalformedInputException {
        int systems = from.bounded("systems", from.u32("systems"), MOST_FORMATS);
        for (int i = 0; i < systems; i++) {
            String system = from.text("system", MOST_NAME_BYTES);
            List<byte[]> formats =
                    content.eventFormats.computeIfAbsent(system, name -> new ArrayList<>());
            formats(from, "event format", formats);
        }
    }

    private static void formats(FieldCursor from, String field, List<byte[]> into)
            throws MalformedInputException {
        int count = from.bounded(field + "s", from.u32(field + "s"), MOST_FORMATS);
        for (int i = 0; i < count; i++) {
            into.add(from.bytes(field, from.u64(field + " size")));
        }
    }

    void kallsyms(FieldCursor from) throws MalformedInputException {
        content.kallsyms = from.bytes("kallsyms", from.u32("kallsyms size"));
    }

    void printk(FieldCursor from) throws MalformedInputException {
        content.printk = from.bytes("printk", from.u32("printk size"));
    }

    void cmdlines(FieldCursor from) throws MalformedInputException {
        content.cmdlines = from.bytes("cmdlines", from.u64("cmdlines size"));
    }
}
