package sonde.lang.bpftrace.run;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.check.ProbeSite;
import sonde.lang.bpftrace.check.ProbeSite.MemoryArguments;
import sonde.lang.bpftrace.lower.ClauseLowering;
import sonde.lang.declare.DwarfTypes;
import sonde.lang.declare.EntryArgument;
import sonde.lang.declare.EntryArgument.ArgumentPlace;
import sonde.lang.declare.FunctionSignature;
import sonde.lang.declare.FunctionSignature.SignatureParameter;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.declare.TracepointTypes;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.FentryProbe;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.KernelProbe;
import sonde.lang.probes.Probe.TracepointProbe;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.type.CompositeType;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;

/** What programs find where they run, by the probe. */
final class ProbeContexts {
    private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
    private static final MemoryArguments NONE = MemoryArguments.NONE;
    private static final int SLOT = 8;
    private static final int REGISTERS = 168;
    // What does not fit into two registers no function with types may take.
    private static final int MOST_BYTES = 16;

    private static final String INSIDE =
            "args are known where a function is entered, and this place is inside of one: there"
                    + " sonde probe add finds variables, and programs have reg(\"…\")";

    private final KernelTypeSource kernel;
    private final List<Path> debugFolders;

    ProbeContexts(KernelTypeSource kernel, List<Path> debugFolders) {
        this.kernel = kernel;
        this.debugFolders = debugFolders;
    }

    /**
     * Types of a probe's site.
     *
     * @param arguments whether they are asked for
     */
    ProbeSite of(Probe probe, boolean arguments) {
        String target =
                switch (probe) {
                    case TracepointProbe t -> t.subsystem();
                    case UserProbe u -> u.path();
                    case UsdtProbe u -> u.path();
                    case IteratorProbe i -> i.pin();
                    default -> "";
                };
        if (!arguments) {
            return new ProbeSite(probe.kind(), probe.name(), target, null, "", null, NONE);
        }
        return switch (probe) {
            case TracepointProbe t -> {
                StructType struct = TracepointTypes.arguments(kernel, t.subsystem(), t.event());
                yield site(probe, target, struct, "no format of this tracepoint", null);
            }
            case Probe.RawTracepoint r -> {
                FunctionSignature signature = kernel.rawTracepoint(r.event(), PointerSpace.KERNEL);
                yield site(probe, target, slots(signature, false), noTypes(r.event()), null);
            }
            case FentryProbe f -> {
                FunctionSignature signature =
                        kernel.function(f.module(), f.function(), PointerSpace.KERNEL);
                boolean exit = f.kind() == Kind.FEXIT;
                yield site(
                        probe,
                        target,
                        slots(signature, exit),
                        noTypes(f.function()),
                        signature == null ? null : signature.result());
            }
            case UserProbe u when u.kind() == Kind.UPROBE -> {
                if (u.offset() != 0) {
                    yield site(probe, target, null, INSIDE, null);
                }
                DwarfTypes types =
                        u.function().isEmpty() ? null : DwarfTypes.shared(u.path(), debugFolders);
                yield ofUser(u, types);
            }
            case UserProbe u when u.kind() == Kind.URETPROBE ->
                    site(probe, target, null, "", result(u));
            case IteratorProbe i -> site(probe, target, kernel.iterator(i.iterator()), "", null);
            default -> site(probe, target, null, "", null);
        };
    }

    /** Numbers have their type; addresses, of whatever they are, are numbers as in bpftrace. */
    private @Nullable ValueType result(UserProbe probe) {
        DwarfTypes types =
                probe.function().isEmpty() ? null : DwarfTypes.shared(probe.path(), debugFolders);
        // Go has none: its results are parameters to DWARF.
        FunctionSignature signature = types == null ? null : types.function(probe.function());
        return switch (signature == null ? null : signature.result()) {
            case IntType number when number.sizeBytes() <= SLOT -> number;
            case BoolType truth -> truth;
            case EnumType constant when constant.sizeBytes() <= SLOT -> constant;
            case null, default -> null;
        };
    }

    private static ProbeSite ofUser(UserProbe probe, @Nullable DwarfTypes types) {
        long entry = UserVariables.address(probe.path(), probe.fileOffset());
        List<EntryArgument> arguments =
                types == null ? null : types.arguments(probe.function(), entry, ARM);
        if (arguments == null) {
            String why = "No DWARF found for \"" + probe.path() + "\", cannot show parameter info";
            return site(probe, probe.path(), null, why, null);
        }
        List<TypeField> simple = new ArrayList<>();
        List<TypeField> others = new ArrayList<>();
        Map<String, String> unread = new HashMap<>();
        for (EntryArgument argument : arguments) {
            String name = argument.name();
            if (argument.place() == ArgumentPlace.NOWHERE) {
                unread.putIfAbsent(name, argument.why());
            } else if (argument.place() == ArgumentPlace.REGISTER) {
                int offset = ClauseLowering.argumentOffset(argument.at());
                simple.add(new TypeField(name, argument.type(), offset));
            } else if (!name.isEmpty()) {
                others.add(elsewhere(argument));
            }
        }
        StructType struct = new StructType("args", false, REGISTERS, SLOT, () -> simple);
        MemoryArguments elsewhere = new MemoryArguments(others, unread);
        return new ProbeSite(probe.kind(), probe.name(), probe.path(), struct, "", null, elsewhere);
    }

    private static TypeField elsewhere(EntryArgument argument) {
        boolean stack = argument.place() == ArgumentPlace.STACK;
        long offset = stack ? argument.at() : ClauseLowering.argumentOffset(argument.at());
        FieldPlace place =
                switch (argument.place()) {
                    case REGISTERS -> FieldPlace.REGISTERS;
                    case REFERENCE -> FieldPlace.REFERENCE;
                    case STACK -> FieldPlace.STACK;
                    case REGISTER, NOWHERE -> FieldPlace.HERE;
                };
        return new TypeField(argument.name(), argument.type(), 8 * offset, 0, place);
    }

    /**
     * Types of a probe that stands for one of another kind: what the block finds there is the same.
     *
     * @param name what the builtin {@code probe} says
     */
    ProbeSite standIn(Probe probe, String name, boolean arguments) {
        ProbeSite site = of(probe, arguments);
        CompositeType found = site.arguments();
        ValueType result = site.result();
        switch (probe) {
            case KernelProbe k -> {
                FunctionSignature signature =
                        kernel.function(k.module(), k.function(), PointerSpace.KERNEL);
                boolean entry = k.kind() == Kind.KPROBE && arguments;
                found = entry ? registers(signature) : null;
                result = signature == null ? null : signature.result();
            }
            case FentryProbe f when f.kind() == Kind.FEXIT -> result = IntType.U64;
            default -> {}
        }
        return new ProbeSite(site.kind(), name, site.target(), found, "", result, NONE);
    }

    private static String noTypes(String name) {
        return "Cannot read function parameters of " + name + ": the kernel has no types of it";
    }

    private static ProbeSite site(
            Probe probe,
            String target,
            @Nullable CompositeType arguments,
            String why,
            @Nullable ValueType result) {
        return new ProbeSite(
                probe.kind(),
                probe.name(),
                target,
                arguments,
                arguments == null ? why : "",
                result,
                NONE);
    }

    /** Arguments of user code lie in registers, which the context keeps. */
    private static @Nullable StructType registers(@Nullable FunctionSignature signature) {
        if (signature == null) {
            return null;
        }
        List<TypeField> fields = new ArrayList<>();
        for (SignatureParameter parameter : signature.parameters()) {
            int offset = ClauseLowering.argumentOffset(fields.size());
            if (offset < 0) {
                break;
            }
            fields.add(new TypeField(parameter.name(), parameter.type(), offset));
        }
        return new StructType("args", false, REGISTERS, SLOT, () -> fields);
    }

    /** Arguments lie in slots of 8 bytes, structures in as many as they need; behind the result. */
    private static @Nullable StructType slots(
            @Nullable FunctionSignature signature, boolean result) {
        if (signature == null) {
            return null;
        }
        List<TypeField> fields = new ArrayList<>();
        int end = 0;
        for (SignatureParameter parameter : signature.parameters()) {
            fields.add(new TypeField(parameter.name(), parameter.type(), (long) end));
            int bytes = Math.clamp(parameter.type().sizeBytes(), 1, MOST_BYTES);
            end += (bytes + SLOT - 1) / SLOT * SLOT;
        }
        if (result && signature.result().sizeBytes() > 0) {
            fields.add(new TypeField("$retval", signature.result(), (long) end));
            end += SLOT;
        }
        return new StructType("args", false, Math.max(SLOT, end), SLOT, () -> fields);
    }
}
