package sonde.probe.dynamic;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.dwarf.location.Location;
import sonde.binary.dwarf.location.Scope;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.Segment;
import sonde.symbol.ctype.StatedPlaces;
import sonde.symbol.demangle.Demangler;

/** Makes definitions of what a user asked for: one for each copy of the code. */
public final class Definer {
    /** MAX_EVENT_NAME_LEN of kernel/trace/trace_probe.h, with its NUL. */
    private static final int MOST_NAME = 64;

    /** Functions that a message names. */
    private static final int MOST_NAMED = 16;

    private final Subject subject;
    private Resolver resolver;
    private final Set<String> taken = new HashSet<>();
    private ProbeKinds kinds = ProbeKinds.ALL;
    private boolean wantsTracer;
    private boolean unsafe;

    private List<String> order = List.of();

    /** Of a program or the kernel. */
    public Definer(Subject subject) {
        this.subject = subject;
        this.resolver = new Resolver(subject);
    }

    /** With the names, {@code group:name}, of probes that are there. */
    public Definer avoiding(Set<String> events) {
        taken.addAll(events);
        return this;
    }

    /**
     * For a kernel that takes these kinds. Entries and returns go through the function tracer where
     * it has no kprobes.
     */
    public Definer choosing(ProbeKinds kernelKinds) {
        kinds = kernelKinds;
        return this;
    }

    /** A line means every place at which its code begins, not the first alone. */
    public Definer everyPlace() {
        resolver = new Resolver(subject, true);
        return this;
    }

    /** Entries and returns of kernel functions go through the function tracer. */
    public Definer byFunctionTracer() {
        wantsTracer = true;
        return this;
    }

    /** Also what can end the program that is probed. */
    public Definer unsafe() {
        unsafe = true;
        return this;
    }

    /** A definition for each place; those of one place of the source bear one name. */
    public List<Definition> define(PointSpec spec) throws IOException {
        if (spec.place() instanceof PointSpec.Place.Marker marker) {
            return new MarkerDefiner(subject).define(spec, marker, this);
        }
        if (spec.place() instanceof PointSpec.Place.Tracepoint tracepoint) {
            return new TracepointDefiner(subject).define(spec, tracepoint, this);
        }
        List<Definition> made = new ArrayList<>();
        order = List.of();
        String name = "";
        ProbeException failure = null;
        boolean traced = isTraced(spec.place());
        Prologue prologue = new Prologue(subject, resolver);
        List<Spot> spots = resolver.spots(spec.place());
        refuseGoReturn(spots);
        for (Spot found : traced ? new TracedFunctions(subject).of(spots) : spots) {
            Spot spot = traced ? found : prologue.behind(found, spec);
            try {
                List<String> lacking = new ArrayList<>();
                List<Argument> arguments = arguments(spec, around(spot, traced), lacking);
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
    private static boolean isLoose(Spot spot) throws IOException {
        Scope scope = spot.scope();
        return scope != null
                && !spot.isEntry()
                && !spot.isReturn()
                && StatedPlaces.isUntracked(scope)
                && scope.variables().stream()
                        .anyMatch(one ->
                                one.ranges().isEmpty()
                                        && one.location() instanceof Location.InRegister);
    }

    private static ProbeException failed(ProbeException failure, int made, List<Spot> spots) {
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
    private static List<String> functions(List<Spot> spots) {
        List<String> symbols =
                spots.stream()
                        .filter(spot -> !spot.isInlined() && !spot.symbol().isEmpty())
                        .map(Spot::symbol)
                        .distinct()
                        .limit(MOST_NAMED)
                        .toList();
        List<String> names = symbols.stream().map(Demangler::functionName).distinct().toList();
        return names.size() == symbols.size()
                ? names
                : symbols.stream().map(Demangler::demangle).toList();
    }

    private void refuseGoReturn(List<Spot> spots) throws ProbeException {
        for (Spot spot : spots) {
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
    private List<Definition> alike(List<Definition> made) {
        List<Definition> named = new ArrayList<>();
        for (Definition one : made) {
            boolean same = named.isEmpty() || types(one).equals(types(named.getFirst()));
            named.add(same ? one : one.named(unique(one.group(), one.name())));
        }
        return named;
    }

    private static List<String> types(Definition one) {
        return one.arguments().stream().map(a -> a.name() + ":" + a.type()).toList();
    }

    /** Whether the function tracer is asked for a place, or is all that the kernel has for it. */
    private boolean isTraced(PointSpec.Place place) throws ProbeException {
        boolean whole =
                place instanceof PointSpec.Place.Function function
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

    private SpotSurroundings around(Spot spot, boolean traced) {
        boolean arguments =
                traced && !spot.isReturn()
                        || spot.isReturn() && subject.isKernel() && kinds.argumentsAtReturn();
        return arguments
                ? new SpotSurroundings(
                        subject, spot, subject.registers().asArguments(!spot.isReturn()))
                : new SpotSurroundings(subject, spot);
    }

    List<Argument> arguments(PointSpec spec, SpotSurroundings here) throws IOException {
        return arguments(spec, here, new ArrayList<>());
    }

    /**
     * What is asked for.
     *
     * @param lacking takes the variables of {@code $vars} and {@code $params} that a probe cannot
     *     read there
     */
    private List<Argument> arguments(PointSpec spec, SpotSurroundings here, List<String> lacking)
            throws IOException {
        ArgumentMaker maker = new ArgumentMaker(here);
        List<Argument> made = new ArrayList<>();
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

    /** Of all variables those that can be shown. */
    private static boolean isAdded(ArgumentMaker maker, String name, List<Argument> made) {
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
    private String word(Spot spot) {
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

    private String name(Spot spot, PointSpec spec) {
        String base = word(spot);
        String place = spot.place();
        int colon = place.lastIndexOf(':');
        boolean byOffset =
                spec.place() instanceof PointSpec.Place.Function function && function.offset() >= 0;
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

    private Definition definition(
            PointSpec spec, Spot spot, String name, List<Argument> arguments, boolean traced)
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
        Spot shownSpot = traced ? spot.noted("by the function tracer") : spot;
        if (module != null && !module.isLoaded()) {
            shownSpot = shownSpot.noted("begins when " + module.name() + " is loaded");
        }
        for (Argument argument : arguments) {
            if (!argument.note().isEmpty()) {
                shownSpot = shownSpot.noted(argument.name() + " is " + argument.note());
            }
        }
        return new Definition(
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
    private String kernelPlace(Spot spot) throws ProbeException {
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
        List<Symbols.Symbol> text = subject.symbols().named("_text");
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
        for (Segment segment : elf.segments()) {
            if (segment.isCode()
                    && Long.compareUnsigned(address - segment.address(), segment.fileBytes()) < 0) {
                return address - segment.address() + segment.offset();
            }
        }
        return -1;
    }
}
