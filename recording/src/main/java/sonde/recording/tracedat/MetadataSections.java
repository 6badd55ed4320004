package sonde.recording.tracedat;

import java.util.ArrayList;
import java.util.List;
import sonde.binary.Cursor;
import sonde.binary.MalformedInputException;

/** The parts of a trace.dat that describe events, alike in versions 6 and 7. */
final class MetadataSections {
    private static final int MOST_FORMATS = 100_000;
    private static final int MOST_NAME_BYTES = 4096;

    private final Content content;

    MetadataSections(Content content) {
        this.content = content;
    }

    /** Reads the content of a section of version 7. */
    void read(int id, Cursor from) throws MalformedInputException {
        switch (id) {
            case Section.HEADER_INFO -> headerInfo(from);
            case Section.FTRACE_EVENTS -> ftraceFormats(from);
            case Section.EVENT_FORMATS -> eventFormats(from);
            case Section.KALLSYMS -> kallsyms(from);
            case Section.PRINTK -> printk(from);
            case Section.CMDLINES -> cmdlines(from);
            case Section.BTF_FILE -> content.btf = from.bytes("BTF", from.remaining());
            case Section.MODULES_FILE -> content.modules = from.bytes("modules", from.remaining());
            default -> throw from.malformed("section", Integer.toString(id));
        }
    }

    void headerInfo(Cursor from) throws MalformedInputException {
        tagged(from, "header_page");
        content.headerPage = from.bytes("header_page", from.u64("header_page size"));
        tagged(from, "header_event");
        content.headerEvent = from.bytes("header_event", from.u64("header_event size"));
    }

    private static void tagged(Cursor from, String tag) throws MalformedInputException {
        String found = from.text(tag, tag.length() + 1);
        if (!found.equals(tag)) {
            throw from.malformed(tag, found);
        }
    }

    void ftraceFormats(Cursor from) throws MalformedInputException {
        formats(from, "ftrace format", content.ftraceFormats);
    }

    void eventFormats(Cursor from) throws MalformedInputException {
        int systems = from.bounded("systems", from.u32("systems"), MOST_FORMATS);
        for (int i = 0; i < systems; i++) {
            String system = from.text("system", MOST_NAME_BYTES);
            List<byte[]> formats =
                    content.eventFormats.computeIfAbsent(system, name -> new ArrayList<>());
            formats(from, "event format", formats);
        }
    }

    private static void formats(Cursor from, String field, List<byte[]> into)
            throws MalformedInputException {
        int count = from.bounded(field + "s", from.u32(field + "s"), MOST_FORMATS);
        for (int i = 0; i < count; i++) {
            into.add(from.bytes(field, from.u64(field + " size")));
        }
    }

    void kallsyms(Cursor from) throws MalformedInputException {
        content.kallsyms = from.bytes("kallsyms", from.u32("kallsyms size"));
    }

    void printk(Cursor from) throws MalformedInputException {
        content.printk = from.bytes("printk", from.u32("printk size"));
    }

    void cmdlines(Cursor from) throws MalformedInputException {
        content.cmdlines = from.bytes("cmdlines", from.u64("cmdlines size"));
    }
}
