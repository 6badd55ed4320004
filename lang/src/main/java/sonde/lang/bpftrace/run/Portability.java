package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Code;
import sonde.lang.bpftrace.ahead.OwnTypes;
import sonde.lang.bpftrace.ahead.ScriptFile;
import sonde.lang.bpftrace.ahead.ScriptFile.Piece;
import sonde.lang.bpftrace.ahead.ScriptFile.Records;
import sonde.lang.bpftrace.ahead.ScriptFile.Want;
import sonde.lang.bpftrace.ahead.ScriptFile.Wish;
import sonde.lang.bpftrace.lower.Action;
import sonde.lang.bpftrace.lower.Reference;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.ir.Assembly;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;

/** The pass that makes a file of a script that was compiled for any machine. */
public final class Portability {
    private Portability() {}

    /** The file; a compilation of {@link Compilation#portable}. */
    public static ScriptFile file(Compilation compiled, SourceText text) {
        OwnTypes types =
                new OwnTypes(new KernelStructures(null, KernelTypeSource.shared())::structure);
        for (CompiledProgram program : compiled.programs()) {
            for (Assembly.Missing missing : program.assembly().missing()) {
                types.add((Reference) missing.wanted());
            }
        }
        byte[] btf = types.bytes();
        List<Piece> pieces = new ArrayList<>();
        for (int i = 0; i < compiled.programs().size(); i++) {
            CompiledProgram program = compiled.programs().get(i);
            pieces.add(piece(program, compiled.attachments().get(i), types));
        }
        return new ScriptFile(
                sonde.sys.Machine.uname().release(),
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

    private static Piece piece(CompiledProgram program, Attachment attachment, OwnTypes types) {
        List<String> maps = new ArrayList<>();
        List<String> functions = new ArrayList<>();
        Code code =
                program.code(
                        new Assembly.Symbols() {
                            @Override
                            public int map(String name) {
                                return index(maps, name);
                            }

                            @Override
                            public int function(String kernelFunction) {
                                return index(functions, kernelFunction);
                            }
                        });
        List<Wish> wishes = new ArrayList<>();
        for (Assembly.Missing missing : program.assembly().missing()) {
            Reference reference = (Reference) missing.wanted();
            ScriptFile.@Nullable Question question = types.question(reference);
            Want want = question == null ? new Want.Named(reference) : new Want.Type(question);
            wishes.add(new Wish(missing.slot(), missing.span(), want));
        }
        return new Piece(
                program.number(),
                attachment.place(),
                attachment.optional(),
                program.group().first().kind(),
                program.clause().probe().span(),
                attachment.points(),
                markers(program),
                code.words(),
                new Records(
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
        boolean read = Uses.of(program.clause().probe()).markers();
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
            SourceText first, Compilation compiled, List<Piece> pieces) {
        Set<SourceText> all = new LinkedHashSet<>(List.of(first));
        for (Piece piece : pieces) {
            all.add(piece.span().source());
            piece.wishes().forEach(wish -> add(all, wish.span()));
        }
        for (Action action : compiled.unit().actions()) {
            switch (action) {
                case Action.Report a -> add(all, a.span());
                case Action.HelperError a -> add(all, a.span());
                case Action.Fault a -> add(all, a.span());
                default -> {}
            }
        }
        return List.copyOf(all);
    }

    private static void add(Set<SourceText> all, @Nullable Span span) {
        if (span != null) {
            all.add(span.source());
        }
    }
}
