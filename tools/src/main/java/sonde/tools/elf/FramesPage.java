package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Optional;
import sonde.binary.elf.ElfFile;
import sonde.binary.unwind.UnwindTable;
import sonde.event.result.ValueOutput;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenDebug;
import sonde.symbol.files.RequiredContent;

/** How to leave each function: the rules of {@code .eh_frame} and {@code .debug_frame}. */
public final class FramesPage implements ElfPage {
    private final ElfFile elf;
    private final FilePlace binary;
    private final DebugSearch search;

    /** Shows the rules of a binary, in itself and in its debug file. */
    public FramesPage(ElfFile elf, FilePlace binary, DebugSearch search) {
        this.elf = elf;
        this.binary = binary;
        this.search = search;
    }

    private Optional<UnwindTable> table() throws IOException {
        Optional<UnwindTable> table = UnwindTable.of(elf.linked());
        if (table.isPresent() && !RequiredContent.FRAMES.isMetBy(elf)) {
            try (OpenDebug debug = OpenDebug.of(search, binary, elf, RequiredContent.FRAMES)) {
                debug.separate().ifPresent(table.get()::addSeparate);
            }
        }
        return table;
    }

    @Override
    public String key() {
        return "frames";
    }

    @Override
    public void text(PrintWriter out) throws IOException {
        Optional<UnwindTable> table = table();
        if (table.isEmpty()) {
            out.println("Frames of this machine are not known here.");
            return;
        }
        long[] last = {0, -1};
        table.get()
                .each((section, start, size, address, rule) -> {
                    if (last[0] != start || last[1] != size) {
                        last[0] = start;
                        last[1] = size;
                        out.printf(
                                "%s function 0x%s..0x%s%n",
                                section,
                                ElfWording.address(elf, start),
                                ElfWording.address(elf, start + size));
                    }
                    out.printf("  0x%s  %s%n", ElfWording.address(elf, address), rule);
                });
        if (last[1] == -1) {
            out.println("There are no tables of frames in this file.");
        }
        table.get().notes().forEach(note -> out.println("damaged: " + ElfWording.name(note)));
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginArray();
        Optional<UnwindTable> table = table();
        try {
            table.ifPresent(frames ->
                    frames.each((section, start, size, address, rule) -> {
                        try {
                            out.beginObject();
                            out.field("section", section);
                            out.field("function", ElfWording.hex(start));
                            out.field("size_bytes", size);
                            out.field("address", ElfWording.hex(address));
                            out.field("rule", rule.toString());
                            out.endObject();
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    }));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        out.endArray();
    }
}
