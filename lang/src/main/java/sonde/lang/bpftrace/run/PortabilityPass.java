package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.ProgramCode;
import sonde.lang.bpftrace.ahead.AotFile;
import sonde.lang.bpftrace.ahead.AotFile.AotProgramEntry;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber.NamedNumber;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber.TypeNumber;
import sonde.lang.bpftrace.ahead.AotFile.NumberSlot;
import sonde.lang.bpftrace.ahead.AotFile.SourceRecords;
import sonde.lang.bpftrace.ahead.OwnTypes;
import sonde.lang.bpftrace.lower.EventAction;
import sonde.lang.bpftrace.lower.EventAction.FaultAction;
import sonde.lang.bpftrace.lower.EventAction.ReportAction;
import sonde.lang.bpftrace.lower.PortableReference;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.ir.Assembly.AssemblySymbols;
import sonde.lang.ir.Assembly.LoadTimeSlot;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;
import sonde.sys.MachineFacts;

/** The pass that makes a file of a script that was compiled for any machine. */
public final class PortabilityPass {
    private PortabilityPass() {}

    /** The file; a compilation of {@link Compilation#portable}. */
    public static AotFile file(Compilation compiled, SourceText text) {
        OwnTypes types =
                new OwnTypes(new KernelStructures(null, KernelTypeSource.shared())::structure);
        for (CompiledProgram program : compiled.programs()) {
            for (LoadTimeSlot missing : program.assembly().missing()) {
                types.add((PortableReference) missing.wanted());
            }
        }
        byte[] btf = types.bytes();
        List<AotProgramEntry> pieces = new ArrayList<>();
        for (int i = 0; i < compiled.programs().size(); i++) {
            CompiledProgram program = compiled.programs().get(i);
            pieces.add(piece(program, compiled.attachments().get(i), types));
        }
        return new AotFile(
                MachineFacts.uname().release(),
                sources(text, compiled, pieces),
                List.copyOf(compiled.unit().maps().values()),
                compiled.unit().actions(),
                compiled.unit().texts(),
                compiled.unit().zeroBytes(),
                compiled.unit().frameBytes(),
                btf,
                Math.max(1, compiled.unit().programs()),
                pieces,
                compiled.options());
    }

    private static AotProgramEntry piece(
            CompiledProgram program, PortableAttachment attachment, OwnTypes types) {
        List<String> maps = new ArrayList<>();
        List<String> functions = new ArrayList<>();
        ProgramCode code =
                program.code(
                        new AssemblySymbols() {
                            @Override
                            public int map(String name) {
                                return index(maps, name);
                            }

                            @Override
                            public int function(String kernelFunction) {
                                return index(functions, kernelFunction);
                            }
                        });
        List<NumberSlot> wishes = new ArrayList<>();
        for (LoadTimeSlot missing : program.assembly().missing()) {
            PortableReference reference = (PortableReference) missing.wanted();
            AotFile.@Nullable TypeQuestion question = types.question(reference);
            MissingNumber want =
                    question == null ? new NamedNumber(reference) : new TypeNumber(question);
            wishes.add(new NumberSlot(missing.slot(), missing.span(), want));
        }
        return new AotProgramEntry(
                program.number(),
                attachment.place(),
                attachment.optional(),
                program.group().first().kind(),
                program.clause().probe().span(),
                attachment.points(),
                markers(program),
                code.words(),
                new SourceRecords(
                        program.btf(),
                        program.functionRecords(),
                        program.lineRecords(),
                        program.needsDebug()),
                maps,
                functions,
                wishes);
    }

    /** How arguments of a marker are found, where the program reads them. */
    private static String markers(CompiledProgram program) {
        var markers = program.site().markers();
        boolean read = ClauseUses.of(program.clause().probe()).markers();
        return markers == null || !read ? "" : markers.toString();
    }

    private static int index(List<String> names, String name) {
        int index = names.indexOf(name);
        if (index < 0) {
            names.add(name);
            return names.size() - 1;
        }
        return index;
    }

    private static List<SourceText> sources(
            SourceText first, Compilation compiled, List<AotProgramEntry> pieces) {
        Set<SourceText> all = new LinkedHashSet<>(List.of(first));
        for (AotProgramEntry piece : pieces) {
            all.add(piece.span().source());
            piece.wishes().forEach(wish -> add(all, wish.span()));
        }
        for (EventAction action : compiled.unit().actions()) {
            switch (action) {
                case ReportAction a -> add(all, a.span());
                case EventAction.HelperError a -> add(all, a.span());
                case FaultAction a -> add(all, a.span());
                default -> {}
            }
        }
        return List.copyOf(all);
    }

    private static void add(Set<SourceText> all, @Nullable SourceSpan span) {
        if (span != null) {
            all.add(span.source());
        }
    }
}
