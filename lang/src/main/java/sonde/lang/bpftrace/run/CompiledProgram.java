package sonde.lang.bpftrace.run;

import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.insn.ProgramCode;
import sonde.lang.bpftrace.check.ScriptClause;
import sonde.lang.bpftrace.lower.ProgramSite;
import sonde.lang.ir.Assembly;
import sonde.lang.ir.Assembly.AssemblySymbols;
import sonde.lang.ir.Assembly.ProgramRecords;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.source.SourceSpan;

/**
 * A program and what it is attached to.
 *
 * @param numbers within the script, for what it loses: two where it is of two blocks
 */
public record CompiledProgram(
        List<Integer> numbers,
        ProbeGroup group,
        ScriptClause clause,
        ProgramSite site,
        Assembly assembly)
        implements PreparedProgram {
    @Override
    public boolean isNamed(Probe probe) {
        return probe.function().isEmpty()
                || clause.probe().attachPoints().stream()
                        .anyMatch(point -> point.text().endsWith(":" + probe.function()));
    }

    @Override
    public ProgramCode code(AssemblySymbols symbols) {
        return assembly.code(symbols);
    }

    @Override
    public byte[] btf() {
        return assembly.btf();
    }

    @Override
    public byte[] functionRecords() {
        return assembly.functionRecords();
    }

    @Override
    public byte[] lineRecords() {
        return assembly.lineRecords();
    }

    @Override
    public boolean needsDebug() {
        return assembly.needsDebug();
    }

    @Override
    public SortedMap<Integer, String> imported() {
        return assembly.imported();
    }

    @Override
    public ProgramRecords records(BtfWriter others) {
        return assembly.records(others);
    }

    @Override
    public int slots() {
        return assembly.slots();
    }

    @Override
    public @Nullable SourceSpan spanAt(int slot) {
        return assembly.spanAt(slot);
    }
}
