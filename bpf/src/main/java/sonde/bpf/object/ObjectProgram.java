package sonde.bpf.object;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfExtension.LineEntry;

/**
 * A program of an object: a global function in a section other than {@code .text}.
 *
 * @param name of the function
 * @param sectionName as it stands in the object
 * @param section what that name says; null when it is none that is known
 * @param slots of instructions, without the functions it calls
 * @param lines of its source, without those of functions it calls; offsets in bytes of the section
 */
public record ObjectProgram(
        String name,
        String sectionName,
        @Nullable ProgramSection section,
        int slots,
        List<LineEntry> lines) {
    /** Whether it is loaded when nothing else is said. */
    public boolean isLoadedByDefault() {
        return section == null || !section.optional();
    }
}
