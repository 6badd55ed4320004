package sonde.binary.dwarf.code;

import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.LineProgram;
import sonde.binary.dwarf.section.LineProgram.LineProgramUnit;
import sonde.binary.dwarf.section.UnitHeader;

/** Reads units of a file; belongs to one thread. */
public final class CodeReader {
    private static final int PARTIAL_UNIT = 0x3c;

    private final DwarfCode code;
    private final CodeFileReader reader;
    private final NameReader names;

    CodeReader(DwarfCode code) {
        this.code = code;
        reader = new CodeFileReader(code.file);
        names = new NameReader(reader);
    }

    /**
     * What the code of a unit came from; of malformed entries and lines what stands before them.
     *
     * @param wanted addresses, ascending as signed numbers: the rest may be left out; null for all
     * @param thorough whether to look for functions also where compilers put none
     * @return null for a unit that has no code or cannot be read at all
     */
    public @Nullable UnitCode read(int unit, long @Nullable [] wanted, boolean thorough) {
        try {
            UnitHeader header = UnitHeader.read(reader.peek, code.file.unitOffsets()[unit]);
            CodeUnit own = CodeUnit.read(reader, header);
            if (own.tag == 0 || own.tag == PARTIAL_UNIT) {
                return null;
            }
            CodeUnit body = body(own);
            NameReader bodyNames = body.equals(own) ? names : new NameReader(body.reader);
            UnitCode result = new UnitCode(own, bodyNames, wanted != null);
            lines(own, result, wanted);
            entries(body, result, wanted, thorough);
            return result;
        } catch (MalformedInputException e) {
            return null;
        }
    }

    /** The unit that has the entries: itself, or what a skeleton left out. */
    private CodeUnit body(CodeUnit own) throws MalformedInputException {
        if (!own.isSkeleton()) {
            return own;
        }
        DwarfFile file = code.split(own);
        if (file == null) {
            return own;
        }
        CodeFileReader split = new CodeFileReader(file);
        long[] offsets = file.unitOffsets();
        for (int i = 0; i < offsets.length; i++) {
            UnitHeader header = UnitHeader.read(split.peek, offsets[i]);
            if (!header.isType()) {
                CodeUnit body = CodeUnit.readSplit(split, header, own);
                if (body.splitId == own.splitId) {
                    return body;
                }
            }
        }
        return own;
    }

    private void lines(CodeUnit own, UnitCode result, long @Nullable [] wanted) {
        if (own.lines == CodeUnit.NONE) {
            return;
        }
        RowCollector rows = new RowCollector(code.layout, result.rows, wanted);
        try {
            LineProgramUnit start =
                    new LineProgramUnit(
                            own.lines, own.folder(), own.header.addressBytes(), own.stringsBase);
            LineProgram program = new LineProgram(reader.lines, reader, start);
            result.files(program.files());
            program.run(rows);
        } catch (MalformedInputException e) {
            // The sequences before it are right.
            rows.finish();
            return;
        }
        rows.finish();
    }

    private void entries(
            CodeUnit body, UnitCode result, long @Nullable [] wanted, boolean thorough) {
        try {
            new UnitDecoder(body, code.layout, result, wanted, thorough).decode();
        } catch (MalformedInputException e) {
            // What was found before it is right.
            result.intervals.build();
            return;
        }
        result.intervals.build();
    }
}
