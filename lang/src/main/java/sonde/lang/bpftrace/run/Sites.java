package sonde.lang.bpftrace.run;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.check.Site;
import sonde.lang.bpftrace.lower.Lowering;
import sonde.lang.declare.Argument;
import sonde.lang.declare.DwarfTypes;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.declare.Signature;
import sonde.lang.declare.TracepointTypes;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe;
import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Space;

/** What programs find where they run, by the probe. */
final class Sites {
    private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
    private static final Site.Elsewhere NONE = Site.Elsewhere.NONE;
    private static final int SLOT = 8;
    private static final int REGISTERS = 168;
    // What does not fit into two registers no function with types may take.
    private static final int MOST_BYTES = 16;

    private static final String INSIDE =
            "args are known where a function is entered, and this place is inside of one: there"
                    + " sonde probe add finds variables, and programs have reg(\"…\")";

    private final KernelTypeSource kernel;
    private final List<Path> debugFolders;

    Sites(KernelTypeSource kernel, List<Path> debugFolders) {
        this.kernel = kernel;
        this.debugFolders = debugFolders;
    }

    /**
     * Types of a probe's site.
     *
     * @param arguments whether they are asked for
     */
    Site of(Probe probe, boolean arguments) {
        String target =
                switch (probe) {
                    case Probe.Tracepoint t -> t.subsystem();
                    case Probe.User u -> u.path();
                    case Probe.Usdt u -> u.path();
                    case Probe.Iter i -> i.pin();
                    default -> "";
                };
        if (!arguments) {
            return new Site(probe.kind(), probe.name(), target, null, "", null, NONE);
        }
        return switch (probe) {
            case Probe.Tracepoint t -> {
                Struct struct = TracepointTypes.arguments(kernel, t.subsystem(), t.event());
                yield site(probe, target, struct, "no format of this tracepoint", null);
            }
            case Probe.RawTracepoint r -> {
                Signature signature = kernel.rawTracepoint(r.event(), Space.KERNEL);
                yield site(probe, target, slots(signature, false), noTypes(r.event()), null);
            }
            case Probe.Fentry f -> {
                Signature signature = kernel.function(f.module(), f.function(), Space.KERNEL);
                boolean exit = f.kind() == Kind.FEXIT;
                yield site(
                        probe,
                        target,
                        slots(signature, exit),
                        noTypes(f.function()),
                        signature == null ? null : signature.result());
            }
            case Probe.User u when u.kind() == Kind.UPROBE -> {
                if (u.offset() != 0) {
                    yield site(probe, target, null, INSIDE, null);
                }
                DwarfTypes types =
                        u.function().isEmpty() ? null : DwarfTypes.shared(u.path(), debugFolders);
                yield ofUser(u, types);
            }
            case Probe.User u when u.kind() == Kind.URETPROBE ->
                    site(probe, target, null, "", result(u));
            case Probe.Iter i -> site(probe, target, kernel.iterator(i.iterator()), "", null);
            default -> site(probe, target, null, "", null);
        };
    }

    /** Numbers have their type; addresses, of whatever they are, are numbers as in bpftrace. */
    private @Nullable Type result(Probe.User probe) {
        DwarfTypes types =
                probe.function().isEmpty() ? null : DwarfTypes.shared(probe.path(), debugFolders);
        // Go has none: its results are parameters to DWARF.
        Signature signature = types == null ? null : types.function(probe.function());
        return switch (signature == null ? null : signature.result()) {
            case Type.Int number when number.sizeBytes() <= SLOT -> number;
            case Type.Bool truth -> truth;
            case Type.Enum constant when constant.sizeBytes() <= SLOT -> constant;
            case null, default -> null;
        };
    }

    private static Site ofUser(Probe.User probe, @Nullable DwarfTypes types) {
        long entry = UserVariables.address(probe.path(), probe.fileOffset());
        List<Argument> arguments =
                types == null ? null : types.arguments(probe.function(), entry, ARM);
        if (arguments == null) {
            String why = "No DWARF found for \"" + probe.path() + "\", cannot show parameter info";
            return site(probe, probe.path(), null, why, null);
        }
        List<Field> simple = new ArrayList<>();
        List<Field> others = new ArrayList<>();
        Map<String, String> unread = new HashMap<>();
        for (Argument argument : arguments) {
            String name = argument.name();
            if (argument.place() == Argument.Place.NOWHERE) {
                unread.putIfAbsent(name, argument.why());
            } else if (argument.place() == Argument.Place.REGISTER) {
                int offset = Lowering.argumentOffset(argument.at());
                simple.add(new Field(name, argument.type(), offset));
            } else if (!name.isEmpty()) {
                others.add(elsewhere(argument));
            }
        }
        Struct struct = new Struct("args", false, REGISTERS, SLOT, () -> simple);
        Site.Elsewhere elsewhere = new Site.Elsewhere(others, unread);
        return new Site(probe.kind(), probe.name(), probe.path(), struct, "", null, elsewhere);
    }

    private static Field elsewhere(Argument argument) {
        boolean stack = argument.place() == Argument.Place.STACK;
        long offset = stack ? argument.at() : Lowering.argumentOffset(argument.at());
        Field.Place place =
                switch (argument.place()) {
                    case REGISTERS -> Field.Place.REGISTERS;
                    case REFERENCE -> Field.Place.REFERENCE;
                    case STACK -> Field.Place.STACK;
                    case REGISTER, NOWHERE -> Field.Place.HERE;
                };
        return new Field(argument.name(), argument.type(), 8 * offset, 0, place);
    }

    /**
     * Types of a probe that stands for one of another kind: what the block finds there is the same.
     *
     * @param name what the builtin {@code probe} says
     */
    Site standIn(Probe probe, String name, boolean arguments) {
        Site site = of(probe, arguments);
        Composite found = site.arguments();
        Type result = site.result();
        switch (probe) {
            case Probe.Kernel k -> {
                Signature signature = kernel.function(k.module(), k.function(), Space.KERNEL);
                boolean entry = k.kind() == Kind.KPROBE && arguments;
                found = entry ? registers(signature) : null;
                result = signature == null ? null : signature.result();
            }
            case Probe.Fentry f when f.kind() == Kind.FEXIT -> result = Type.Int.U64;
            default -> {}
        }
        return new Site(site.kind(), name, site.target(), found, "", result, NONE);
    }

    private static String noTypes(String name) {
        return "Cannot read function parameters of " + name + ": the kernel has no types of it";
    }

    private static Site site(
            Probe probe,
            String target,
            @Nullable Composite arguments,
            String why,
            @Nullable Type result) {
        return new Site(
                probe.kind(),
                probe.name(),
                target,
                arguments,
                arguments == null ? why : "",
                result,
                NONE);
    }

    /** Arguments of user code lie in registers, which the context keeps. */
    private static @Nullable Struct registers(@Nullable Signature signature) {
        if (signature == null) {
            return null;
        }
        List<Field> fields = new ArrayList<>();
        for (Signature.Parameter parameter : signature.parameters()) {
            int offset = Lowering.argumentOffset(fields.size());
            if (offset < 0) {
                break;
            }
            fields.add(new Field(parameter.name(), parameter.type(), offset));
        }
        return new Struct("args", false, REGISTERS, SLOT, () -> fields);
    }

    /** Arguments lie in slots of 8 bytes, structures in as many as they need; behind the result. */
    private static @Nullable Struct slots(@Nullable Signature signature, boolean result) {
        if (signature == null) {
            return null;
        }
        List<Field> fields = new ArrayList<>();
        int end = 0;
        for (Signature.Parameter parameter : signature.parameters()) {
            fields.add(new Field(parameter.name(), parameter.type(), (long) end));
            int bytes = Math.clamp(parameter.type().sizeBytes(), 1, MOST_BYTES);
            end += (bytes + SLOT - 1) / SLOT * SLOT;
        }
        if (result && signature.result().sizeBytes() > 0) {
            fields.add(new Field("$retval", signature.result(), (long) end));
            end += SLOT;
        }
        return new Struct("args", false, Math.max(SLOT, end), SLOT, () -> fields);
    }
}
