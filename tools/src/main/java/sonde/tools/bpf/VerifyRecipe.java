package sonde.tools.bpf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.VerifierException;
import sonde.bpf.object.LoadOptions;
import sonde.bpf.object.LoadedObject;
import sonde.bpf.object.ObjectException;
import sonde.bpf.object.ObjectFile;
import sonde.bpf.object.ObjectProgram;
import sonde.bpf.verifier.Explanation;
import sonde.bpf.verifier.RefusalAnalysis;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.tools.bpf.NamedPrograms.NamedProgram;

/** {@code sonde bpf verify}: the verifier looks at programs while the result is written. */
public final class VerifyRecipe {
    /** What became of all programs. */
    public enum VerifyOutcome {
        ACCEPTED,
        REFUSED,
        /** The kernel did not look at one, and refused none. */
        UNSEEN,
    }

    /**
     * What is asked.
     *
     * @param type of programs that are text or instructions
     * @param attach what such programs are for: {@code "tp_btf:sched_switch"}; or null
     * @param maps for the descriptors they name: {@code "3=hash,4,8,1024"}; or null
     * @param only programs of an object; null for those that are loaded when nothing is said
     * @param btf types that an object is fitted to; null for the running kernel's
     * @param log whether the verifier's own words are shown
     * @param sizes entries of an object's maps: {@code "NAME=N"}
     */
    public record VerifyRequest(
            Path file,
            String type,
            @Nullable String attach,
            @Nullable List<String> maps,
            @Nullable List<String> only,
            @Nullable Path btf,
            boolean sleepable,
            String license,
            boolean log,
            List<String> sizes) {}

    private final VerifyRequest request;
    private List<String> left = List.of();
    private VerifyOutcome outcome = VerifyOutcome.ACCEPTED;

    /** Verifies the programs of a file. */
    public VerifyRecipe(VerifyRequest request) {
        this.request = request;
    }

    /** What became of the programs; known when the result is written. */
    public VerifyOutcome outcome() {
        return outcome;
    }

    /** Programs that nobody asked for; known when the result is written. */
    public List<String> left() {
        return left;
    }

    /** A verdict for each program, as it is given. */
    public Result result() {
        return new Document(
                out -> {
                    VerifierVerdicts verdicts = new VerifierVerdicts(request.log(), null);
                    verify(verdicts);
                    out.value(verdicts.rows());
                },
                Listing.ofLines(out -> verify(new VerifierVerdicts(request.log(), out))));
    }

    private void verify(VerifierVerdicts verdicts) throws IOException {
        ProgramSpec.Log amount =
                request.log() ? ProgramSpec.Log.EVERYTHING : ProgramSpec.Log.STATISTICS;
        if (ProgramFile.isElf(request.file())) {
            ObjectFile object = ObjectRecipe.read(List.of(request.file()));
            LoadOptions options = LoadOptions.USUAL.with(amount);
            Path btf = request.btf();
            verify(object, btf == null ? options : options.withBtf(btf), verdicts);
        } else {
            ProgramType type = programType(request.type());
            verify(NamedPrograms.read(request.file(), type), amount, verdicts);
        }
        outcome = verdicts.outcome();
    }

    /** Each program by itself, so that one's fault does not hide another's. */
    private void verify(ObjectFile object, LoadOptions options, VerifierVerdicts verdicts)
            throws IOException {
        List<String> names = ObjectRecipe.chosen(object, request.only());
        List<String> optional = ObjectRecipe.optional(object);
        if (request.only() == null && names.isEmpty()) {
            names = optional; // a file of nothing else is given to have these verified
        } else if (request.only() == null) {
            left = optional;
        }
        LoadOptions none = ObjectRecipe.sized(options, object, request.sizes());
        for (ObjectProgram one : object.programs()) {
            none = none.withProgram(one.name(), false);
        }
        for (String name : names) {
            try (LoadedObject loaded = object.load(none.withProgram(name, true))) {
                verdicts.accepted(name, loaded.program(name));
            } catch (VerifierException e) {
                verdicts.refused(name, "", e.explanation(), e.log());
            } catch (ObjectException e) {
                if (e.getCause() instanceof VerifierException verifier) {
                    verdicts.missing(name, e.getMessage(), verifier);
                } else {
                    verdicts.unseen(name, String.valueOf(ObjectRecipe.withRemedy(e).getMessage()));
                }
            }
        }
    }

    private void verify(
            List<NamedProgram> programs, ProgramSpec.Log amount, VerifierVerdicts verdicts)
            throws IOException {
        try (LoadableProgram loadable = LoadableProgram.of(request.maps(), request.attach())) {
            for (NamedProgram one : programs) {
                ProgramSpec asked =
                        loadable.prepare(one.spec())
                                .with(request.sleepable() ? ProgramSpec.SLEEPABLE : 0)
                                .licensed(request.license())
                                .with(amount);
                try (Program program = Program.load(asked)) {
                    verdicts.accepted(one.name(), program);
                } catch (VerifierException e) {
                    Explanation explanation =
                            one.sources().isEmpty()
                                    ? e.explanation()
                                    : RefusalAnalysis.explain(
                                            e.log(), asked.code(), one.sources(), MapType::nameOf);
                    verdicts.refused(one.name(), asked.type().kernelName(), explanation, e.log());
                }
            }
        }
    }

    static ProgramType programType(String name) {
        for (ProgramType one : ProgramType.values()) {
            if (one.kernelName().equals(name)) {
                return one;
            }
        }
        throw new BpfUseException(
                "no type of program is called " + name + "; 'sonde bpf feature' lists them");
    }
}
