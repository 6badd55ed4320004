package sonde.lang.bpftrace.run;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.ProgramCode;
import sonde.lang.bpftrace.ahead.AotFile.AotProgramEntry;
import sonde.lang.bpftrace.ahead.AotFile.NumberSlot;
import sonde.lang.ir.Assembly.AssemblySymbols;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.source.SourceSpan;

/**
 * A program of a file, with the numbers of this kernel.
 *
 * @param words maps and functions of the kernel are still indexes
 */
public record AheadProgram(AotProgramEntry piece, ProbeGroup group, long[] words)
        implements PreparedProgram {
    private static final int LOAD_WIDE = 0x18;
    private static final int CALL = 0x85;
    private static final int OF_MAP = 1;
    private static final int OF_MAP_VALUE = 2;
    private static final int OF_KERNEL = 2;
    private static final long UPPER = 0xffff_ffffL;

    @Override
    public List<Integer> numbers() {
        return List.of(piece.number());
    }

    private static int source(long word) {
        return (int) (word >>> 12) & 0xf;
    }

    private static long with(long word, int number) {
        return word & UPPER | (long) number << 32;
    }

    @Override
    public ProgramCode code(AssemblySymbols symbols) {
        long[] code = words.clone();
        for (int at = 0; at < code.length; at++) {
            int operation = (int) code[at] & 0xff;
            int index = (int) (code[at] >>> 32);
            if (operation == LOAD_WIDE) {
                boolean map = source(code[at]) == OF_MAP || source(code[at]) == OF_MAP_VALUE;
                if (map && index >= 0 && index < piece.maps().size()) {
                    code[at] = with(code[at], symbols.map(piece.maps().get(index)));
                }
                at++;
            } else if (operation == CALL && source(code[at]) == OF_KERNEL) {
                boolean known = index >= 0 && index < piece.functions().size();
                code[at] =
                        with(code[at], known ? symbols.function(piece.functions().get(index)) : 0);
            }
        }
        return ProgramCode.of(code);
    }

    @Override
    public byte[] btf() {
        return piece.records().btf();
    }

    @Override
    public byte[] functionRecords() {
        return piece.records().functions();
    }

    @Override
    public byte[] lineRecords() {
        return piece.records().lines();
    }

    @Override
    public boolean needsDebug() {
        return piece.records().needed();
    }

    @Override
    public int slots() {
        return words.length;
    }

    /** The block that it is of, or the part of it that the instruction's number is for. */
    @Override
    public @Nullable SourceSpan spanAt(int slot) {
        SourceSpan found = piece.span();
        for (NumberSlot wish : piece.wishes()) {
            if (wish.slot() <= slot && wish.span() != null) {
                found = wish.span();
            }
        }
        return found;
    }
}
