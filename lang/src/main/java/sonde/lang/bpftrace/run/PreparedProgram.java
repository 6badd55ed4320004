package sonde.lang.bpftrace.run;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.insn.ProgramCode;
import sonde.lang.ir.Assembly.AssemblySymbols;
import sonde.lang.ir.Assembly.ProgramRecords;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.source.SourceSpan;

/** A program that can be loaded, and what it is to be attached to. */
public interface PreparedProgram {
    /** Within the script, for what it loses; several where it is put together of several. */
    List<Integer> numbers();

    /** The first of them. */
    default int number() {
        return numbers().getFirst();
    }

    /** What it is attached to. */
    ProbeGroup group();

    /** Whether the script names a probe of the group itself; else a pattern found it. */
    default boolean isNamed(Probe probe) {
        return true;
    }

    /** Its words, with numbers for maps and functions of the kernel. */
    ProgramCode code(AssemblySymbols symbols);

    /** Types of its functions and the text of its lines. */
    byte[] btf();

    /** An array of struct bpf_func_info. */
    byte[] functionRecords();

    /** An array of struct bpf_line_info. */
    byte[] lineRecords();

    /** Whether kernels must know its types. */
    boolean needsDebug();

    /** Calls of functions in C, names by slot. */
    default SortedMap<Integer, String> imported() {
        return Collections.emptySortedMap();
    }

    /** Adds its types and texts to others; what the kernel is told of its source by them. */
    default ProgramRecords records(BtfWriter others) {
        throw new IllegalStateException("no functions in C");
    }

    /** Slots of 8 bytes that it takes. */
    int slots();

    /** The part of the script that an instruction comes from; null for none. */
    @Nullable SourceSpan spanAt(int slot);

    /** Its name in the kernel: 15 letters at most. */
    default String kernelName() {
        String plain = group().first().name().replaceAll("[^A-Za-z0-9_]+", "_");
        return plain.substring(0, Math.min(15, plain.length()));
    }
}
