package sonde.probe.dynamic;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.dwarf.location.ObjectLocation;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSegment;
import sonde.probe.dynamic.ObjectSymbols.ObjectSymbol;
import sonde.probe.dynamic.PointSpec.PointPlace;
import sonde.probe.dynamic.PointSpec.PointPlace.FunctionPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.MarkerPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.TracepointPoint;
import sonde.symbol.ctype.StatedPlaces;
import sonde.symbol.demangle.Demangler;

/** Makes definitions of what a user asked for: one for each copy of the code. */
public final class ProbeDefiner {
    /** MAX_EVENT_NAME_LEN of kernel/trace/trace_probe.h, with its NUL. */
    private static final int MOST_NAME = 64;

    /** Functions that a message names. */
    private static final int MOST_NAMED = 16;

    private final ProbedObject subject;
    private PointResolver resolver;
    private final Set<String> taken = new HashSet<>();
    private ProbeKinds kinds = ProbeKinds.ALL;
    private boolean wantsTracer;
    private boolean unsafe;

    private List<String> order = List.of();

    /** Defines probes of a program or the kernel. */
    public ProbeDefiner(ProbedObject subject) {
        this.subject = subject;
        this.resolver = new PointResolver(subject);
    }

    /** With the names, {@code group:name}, of probes that are there. */
    public ProbeDefiner avoiding(Set<String> events) {
        taken.addAll(events);
        return this;
    }

    /**
     * For a kernel that takes these kinds. Entries and returns go through the function tracer where
     * it has no kprobes.
     */
    public ProbeDefiner choosing(ProbeKinds kernelKinds) {
        kinds = kernelKinds;
        return this;
    }

    /** A line means every place at which its code begins, not the first alone. */
    public ProbeDefiner everyPlace() {
        resolver = new PointResolver(subject, true);
        return this;
    }

    /** Entries and returns of kernel functions go through the function tracer. */
    public ProbeDefiner byFunctionTracer() {
        wantsTracer = true;
        return this;
    }

    /** Also what can end the program that is probed. */
    public ProbeDefiner unsafe() {
        unsafe = true;
        return this;
    }

    /** A definition for each place; those of one place of the source bear one name. */
    public List<ProbeDefinition> define(PointSpec spec) throws IOException {
        if (spec.place() instanceof MarkerPoint marker) {
            return new MarkerDefiner(subject).define(spec, marker, this);
        }
        if (spec.place() instanceof TracepointPoint tracepoint) {
            return new TracepointDefiner(subject).define(spec, tracepoint, this);
        }
        List<ProbeDefinition> made = new ArrayList<>();
        order = List.of();
        String name = "";
        ProbeException failure = null;
        boolean traced = isTraced(spec.place());
        FunctionPrologue prologue = new FunctionPrologue(subject, resolver);
        List<ProbeLocation> spots = resolver.spots(spec.place());
        refuseGoReturn(spots);
        for (ProbeLocation found : traced ? new TracedFunctions(subject).of(spots) : spots) {
            ProbeLocation spot = traced ? found : prologue.behind(found, spec);
            try {
                List<String> lacking = new ArrayList<>();
                List<ProbeArgument> arguments = arguments(spec, around(spot, traced), lacking);
                if (!arguments.isEmpty() && isLoose(spot)) {
                    spot =
                            spot.noted(
                                    "gcc did not follow variables there (-fno-var-tracking): the"
                                            + " place of one that is not needed any more may have"
                                            + " another");
                }
                if (!lacking.isEmpty()) {
                    spot = spot.noted("cannot be read there: " + String.join(", ", lacking));
                }
                if (name.isEmpty()) {
                    name =
                            unique(
                                    group(spec),
                                    spec.name().isEmpty() ? name(found, spec) : spec.name());
                }
                made.add(definition(spec, spot, name, arguments, traced));
            } catch (ProbeException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw failed(failure, made.size(), spots);
        }
        return alike(made);
    }

    /** Whether a register is said to have a variable even where it has another one. */
    private static boolean isLoose(ProbeLocation spot) throws IOException {
        SourceScope scope = spot.scope();
        return scope != null
                && !spot.isEntry()
                && !spot.isReturn()
                && StatedPlaces.isUntracked(scope)
                && scope.variables().stream()
                        .anyMatch(one ->
                                one.ranges().isEmpty()
                                        && one.location() instanceof ObjectLocation.InRegister);
    }

    private static ProbeException failed(
            ProbeException failure, int made, List<ProbeLocation> spots) {
        List<String> functions = functions(spots);
        if (functions.size() > 1) {
            return new ProbeException(
                    failure.getMessage()
                            + "\n  several functions are called so; name one: "
                            + String.join(", ", functions));
        }
        return made == 0
                ? failure
                : new ProbeException(
                        failure.getMessage()
                                + "\n  in a copy of the function; "
                                + made
                                + " other places have it");
    }

    /** Full names of the functions that have code of their own, with parameters where needed. */
    private static List<String> functions(List<ProbeLocation> spots) {
        List<String> symbols =
                spots.stream()
                        .filter(spot -> !spot.isInlined() && !spot.symbol().isEmpty())
                        .map(ProbeLocation::symbol)
                        .distinct()
                        .limit(MOST_NAMED)
                        .toList();
        List<String> names = symbols.stream().map(Demangler::functionName).distinct().toList();
        return names.size() == symbols.size()
                ? names
                : symbols.stream().map(Demangler::demangle).toList();
    }

    private void refuseGoReturn(List<ProbeLocation> spots) throws ProbeException {
        for (ProbeLocation spot : spots) {
            if (spot.isReturn() && !unsafe && subject.isGo(spot.function())) {
                throw new ProbeException(
                        "a probe at the return of the Go function "
                                + spot.function()
                                + " would end the program: Go looks at return addresses when it"
                                + " moves a stack, and finds the kernel's. Probe the lines with"
                                + " 'return' ('sonde probe lines' shows them), or say --unsafe");
            }
        }
    }

    /** One name needs one list of types: copies that differ get names of their own. */
    private List<ProbeDefinition> alike(List<ProbeDefinition> made) {
        List<ProbeDefinition> named = new ArrayList<>();
        for (ProbeDefinition one : made) {
            boolean same = named.isEmpty() || types(one).equals(types(named.getFirst()));
            named.add(same ? one : one.named(unique(one.group(), one.name())));
        }
        return named;
    }

    private static List<String> types(ProbeDefinition one) {
        return one.arguments().stream().map(a -> a.name() + ":" + a.type() + a.shown()).toList();
    }

    /** Whether the function tracer is asked for a place, or is all that the kernel has for it. */
    private boolean isTraced(PointPlace place) throws ProbeException {
        boolean whole =
                place instanceof FunctionPoint function
                        && function.offset() < 0
                        && function.line() <= 0;
        if (!wantsTracer) {
            return subject.isKernel() && whole && !kinds.kprobes() && kinds.fprobes();
        }
        if (!subject.isKernel()) {
            throw new ProbeException("the function tracer sees functions of the kernel only");
        }
        if (!whole) {
            throw new ProbeException(
                    "the function tracer sees functions as a whole: FUNCTION, FUNCTION%return");
        }
        return true;
    }

    private LocationScope around(ProbeLocation spot, boolean traced) {
        boolean arguments =
                traced && !spot.isReturn()
                        || spot.isReturn() && subject.isKernel() && kinds.argumentsAtReturn();
        return arguments
                ? new LocationScope(
                        subject, spot, subject.registers().asArguments(!spot.isReturn()))
                : new LocationScope(subject, spot);
    }

    List<ProbeArgument> arguments(PointSpec spec, LocationScope here) throws IOException {
        return arguments(spec, here, new ArrayList<>());
    }

    /**
     * What is asked for.
     *
     * @param lacking takes the variables of {@code $vars} and {@code $params} that a probe cannot
     *     read there
     */
    private List<ProbeArgument> arguments(PointSpec spec, LocationScope here, List<String> lacking)
            throws IOException {
        ArgumentMaker maker = new ArgumentMaker(here);
        List<ProbeArgument> made = new ArrayList<>();
        for (String text : spec.arguments()) {
            if (text.equals("$vars") || text.equals("$params")) {
                for (String name : ordered(here.names(text.equals("$params")))) {
                    if (!isAdded(maker, name, made) && lacking.size() < MOST_NAMED) {
                        lacking.add(name);
                    }
                }
            } else {
                made.add(maker.make(text));
            }
        }
        return made;
    }

    /** The entries of inlined copies have the parameters in any order: as at the first place. */
    private List<String> ordered(List<String> names) {
        if (order.isEmpty()) {
            order = List.copyOf(names);
        }
        List<String> sorted = new ArrayList<>(names);
        sorted.sort(Comparator.comparingInt(this::rank));
        return sorted;
    }

    private int rank(String name) {
        int index = order.indexOf(name);
        return index < 0 ? Integer.MAX_VALUE : index;
    }

    /** Adds a variable, among all of a place, if it can be shown. */
    private static boolean isAdded(ArgumentMaker maker, String name, List<ProbeArgument> made) {
        try {
            return made.add(maker.make(name));
        } catch (ProbeException e) {
            return false; // $vars asks for what is there
        }
    }

    String group(PointSpec spec) {
        return spec.group().isEmpty() ? usualGroup() : spec.group();
    }

    private String usualGroup() {
        if (subject.isKernel()) {
            return "probe";
        }
        String path = subject.path();
        String file = path.substring(path.lastIndexOf('/') + 1);
        String word = file.replaceAll("[^A-Za-z0-9_].*", "");
        return word.isEmpty() ? "probe_file" : cut("probe_" + word);
    }

    private static String cut(String name) {
        return name.length() < MOST_NAME - 4 ? name : name.substring(0, MOST_NAME - 4);
    }

    /** The function as a word: those of Go with package and type, without types of generics. */
    private String word(ProbeLocation spot) {
        String function = spot.function();
        String bare =
                subject.isGo(function)
                        ? function.substring(function.lastIndexOf('/') + 1)
                                .replaceAll("\\[.*?\\]", "")
                        : function.replaceAll("(?<=.)[.<].*", "");
        String plain = bare.replaceAll("^[^\\w~]+|[^\\w]+$", "").replaceAll("\\W+", "_");
        String base = plain.isEmpty() ? "at_" + Long.toHexString(spot.address()) : plain;
        return Character.isDigit(base.charAt(0)) ? "_" + base : base;
    }

    private String name(ProbeLocation spot, PointSpec spec) {
        String base = word(spot);
        String place = spot.place();
        int colon = place.lastIndexOf(':');
        boolean byOffset = spec.place() instanceof FunctionPoint function && function.offset() >= 0;
        boolean line = !byOffset && colon > 0 && place.substring(colon + 1).matches("\\d+");
        String suffix =
                spot.isReturn() ? "__return" : line ? "_L" + place.substring(colon + 1) : "";
        return cut(base) + suffix;
    }

    String unique(String group, String wanted) {
        String name = wanted;
        for (int i = 1; !taken.add(group + ":" + name); i++) {
            name = cut(wanted) + "_" + i;
        }
        return name;
    }

    private ProbeDefinition definition(
            PointSpec spec,
            ProbeLocation spot,
            String name,
            List<ProbeArgument> arguments,
            boolean traced)
            throws IOException {
        String file = spot.file();
        String shown = file.substring(file.lastIndexOf('/') + 1);
        KernelModule module = subject.module();
        String source =
                (module == null ? "" : module.name() + ":")
                        + spot.place()
                        + (file.isEmpty()
                                ? ""
                                : "@" + shown + (spot.line() > 0 ? ":" + spot.line() : ""));
        String place =
                traced
                        ? spot.symbol() + (spot.isReturn() ? "%return" : "")
                        : subject.isKernel() ? kernelPlace(spot) : programPlace(spot.address());
        ProbeLocation shownSpot = traced ? spot.noted("by the function tracer") : spot;
        if (module != null && !module.isLoaded()) {
            shownSpot = shownSpot.noted("begins when " + module.name() + " is loaded");
        }
        return new ProbeDefinition(
                traced ? 'f' : spot.isReturn() ? 'r' : 'p',
                group(spec),
                name,
                place,
                arguments,
                !subject.isKernel(),
                source,
                shownSpot.note());
    }

    /** {@code symbol+offset} where the symbol is there once, else from the start of the kernel. */
    private String kernelPlace(ProbeLocation spot) throws ProbeException {
        ModulePlaces places = subject.modulePlaces();
        if (places != null) {
            return places.code(spot);
        }
        KernelImage kernel = subject.kernel();
        String symbol = spot.symbol();
        int count = kernel == null ? 0 : kernel.names().count(symbol);
        // A function that the image does not have is one of a module.
        boolean once =
                !symbol.isEmpty()
                        && (subject.symbols().named(symbol).size() == 1
                                || spot.address() == 0 && spot.scope() == null)
                        && count <= 1;
        if (once) {
            return symbol + (spot.offset() == 0 ? "" : "+" + spot.offset());
        }
        List<ObjectSymbol> text = subject.symbols().named("_text");
        if (text.isEmpty()) {
            throw new ProbeException(
                    "nothing says where " + spot.code() + " is in the running kernel");
        }
        return "_text+" + (spot.address() - text.getFirst().address());
    }

    String programPlace(long address) throws ProbeException {
        ElfFile elf = subject.elf().orElse(null);
        long offset = elf == null ? -1 : fileOffset(elf, address);
        if (offset < 0) {
            throw new ProbeException(
                    "0x" + Long.toHexString(address) + " is in no code of " + subject.path());
        }
        return subject.path() + ":0x" + Long.toHexString(offset);
    }

    /** Where an address is in a file's code; -1 for nowhere. */
    static long fileOffset(@Nullable ElfFile elf, long address) {
        if (elf == null) {
            return -1;
        }
        for (ElfSegment segment : elf.segments()) {
            if (segment.isCode()
                    && Long.compareUnsigned(address - segment.address(), segment.fileBytes()) < 0) {
                return address - segment.address() + segment.offset();
            }
        }
        return -1;
    }
}
