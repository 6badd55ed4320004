package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNames;
import sonde.binary.elf.ElfNote;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSegment;
import sonde.event.result.ValueOutput;

/** The notes, by section, or by segment where there are no sections. */
public final class NotesPage implements ElfPage {
    private final ElfFile elf;

    public NotesPage(ElfFile elf) {
        this.elf = elf;
    }

    @Override
    public String key() {
        return "notes";
    }

    /** Notes that stand together. */
    private record NoteGroup(String title, List<ElfNote> notes) {}

    private List<NoteGroup> groups() {
        List<NoteGroup> groups = new ArrayList<>();
        for (ElfSection section : elf.sections()) {
            if (section.type() == ElfFile.SHT_NOTE) {
                groups.add(
                        new NoteGroup(
                                "found in: " + ElfWording.name(section.name()),
                                elf.notes(section)));
            }
        }
        if (groups.isEmpty()) {
            for (ElfSegment segment : elf.segments()) {
                if (segment.type() == ElfFile.PT_NOTE) {
                    String place =
                            "found at file offset 0x%08x with length 0x%08x:"
                                    .formatted(segment.offset(), segment.fileBytes());
                    groups.add(new NoteGroup(place, elf.notes(segment)));
                }
            }
        }
        return groups;
    }

    @Override
    public void text(PrintWriter out) throws IOException {
        List<NoteGroup> groups = groups();
        if (groups.isEmpty()) {
            out.println("There are no notes in this file.");
        }
        String line = "";
        for (NoteGroup group : groups) {
            out.print(line);
            out.println("Displaying notes " + group.title());
            out.println("  Owner                Data size \tDescription");
            BuildAttribute.NoteRegions regions = null;
            for (ElfNote note : group.notes()) {
                String owner = ElfWording.name(note.owner());
                if (BuildAttribute.is(note)) {
                    regions = regions == null ? new BuildAttribute.NoteRegions(elf) : regions;
                    out.printf(
                            "  %-28s 0x%08x\t%s\t    %s%n",
                            ElfWording.name(BuildAttribute.name(note)),
                            note.description().length,
                            ElfNames.note(note.owner(), note.type()),
                            ElfWording.name(regions.of(note)));
                    continue;
                }
                out.printf(
                        "  %-20s 0x%08x\t%s",
                        owner, note.description().length, ElfNames.note(note.owner(), note.type()));
                List<String> words = NoteText.of(elf, note);
                boolean known = note.owner().equals("GNU") || note.owner().equals("stapsdt");
                boolean raw = words.size() == 1 && words.getFirst().startsWith(NoteText.RAW);
                boolean beside = !words.isEmpty() && (known || raw);
                String space = raw ? "\t   " : "\t    ";
                out.println(beside ? space + ElfWording.name(words.getFirst()) : "");
                for (String word : words.subList(beside ? 1 : 0, words.size())) {
                    out.println("    " + ElfWording.name(word));
                }
            }
            line = System.lineSeparator();
        }
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginArray();
        for (ElfNote note : elf.notes()) {
            out.beginObject();
            out.field("owner", ElfWording.name(note.owner()));
            out.field("type_number", Integer.toUnsignedLong(note.type()));
            out.field("type", ElfNames.note(note.owner(), note.type()));
            out.field("size_bytes", note.description().length);
            out.beginArray("description");
            for (String word : NoteText.of(elf, note)) {
                out.value(ElfWording.name(word));
            }
            out.endArray();
            out.endObject();
        }
        out.endArray();
    }
}
