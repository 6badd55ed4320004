package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.btf.Btf;
import sonde.bpf.core.CoreRelocator;
import sonde.bpf.core.CoreRelocator.RelocatedValue;
import sonde.lang.bpftrace.ahead.AotFile;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber.NamedNumber;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber.TypeNumber;
import sonde.lang.bpftrace.ahead.AotFile.RequestedOption;
import sonde.lang.bpftrace.ahead.AotFile.TypeQuestion;
import sonde.lang.bpftrace.lower.PortableReference;
import sonde.lang.bpftrace.lower.PortableReference.ArgumentReference;
import sonde.lang.bpftrace.lower.PortableReference.MemberAspect;
import sonde.lang.bpftrace.lower.PortableReference.MemberReference;
import sonde.lang.bpftrace.lower.PortableReference.OptionReference;
import sonde.lang.bpftrace.lower.PortableReference.RunFact;
import sonde.lang.bpftrace.lower.PortableReference.RunReference;
import sonde.lang.bpftrace.lower.PortableReference.SizeReference;
import sonde.lang.bpftrace.lower.PortableReference.SymbolReference;
import sonde.lang.bpftrace.lower.PortableReference.VariableReference;
import sonde.lang.declare.FunctionSignature;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.declare.TracepointTypes;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType.PointerSpace;

/** What programs of a file want to know of this kernel and this run. */
final class AotResolver {
    private static final int SLOT = 8;
    private static final int WORD_BITS = 64;

    private final KernelTypeSource kernel = KernelTypeSource.shared();
    private final CoreRelocator relocator;
    private final HostAddresses addresses = new HostAddresses(0);
    private final TraceOptions options;
    private final TargetMachine machine;
    private final int frameBytes;
    private final List<RequestedOption> asked;

    /** What is missing on this kernel. */
    static final class MissingException extends Exception {
        private static final long serialVersionUID = 1;

        MissingException(String message) {
            super(message);
        }
    }

    AotResolver(AotFile file, TraceOptions options, TargetMachine machine) throws IOException {
        Btf own = Btf.read(Input.of("types of " + file.sources().getFirst(), file.types()));
        this.relocator = new CoreRelocator(own::type, kernel.targets());
        this.options = options;
        this.machine = machine;
        this.frameBytes = file.frameBytes();
        this.asked = file.options();
    }

    /** The number. */
    long answer(MissingNumber want) throws MissingException, IOException {
        return switch (want) {
            case TypeNumber(TypeQuestion question) -> type(question);
            case NamedNumber(PortableReference reference) -> named(reference);
        };
    }

    private static MissingException lacks(String what) {
        return new MissingException("this kernel has no " + what);
    }

    private long type(TypeQuestion question) throws MissingException, IOException {
        RelocatedValue outcome =
                relocator.resolve(question.root(), question.access(), question.kind());
        String what = outcome.text().replaceFirst("^\\S+ of ", "");
        if (outcome.isMissing()) {
            throw new MissingException(
                    outcome.problem().equals("the kernel has none")
                            ? "this kernel has no " + what
                            : what + ": " + outcome.problem());
        }
        if (question.leastBytes() > 0
                && outcome.widthAfter() > 0
                && outcome.widthAfter() < question.leastBytes()) {
            throw new MissingException(
                    what
                            + " has "
                            + outcome.widthAfter()
                            + " bytes on this kernel, the script reads "
                            + question.leastBytes());
        }
        boolean size = question.kind() == sonde.bpf.core.CoreKind.FIELD_BYTE_SIZE;
        if (size && outcome.after() > SLOT) {
            throw new MissingException(what + " is not a number on this kernel");
        }
        return outcome.after();
    }

    private long named(PortableReference reference) throws MissingException {
        return switch (reference) {
            case PortableReference.EventField r -> eventField(r);
            case ArgumentReference r ->
                    argument(
                            kernel.function(r.module(), r.function(), PointerSpace.KERNEL),
                            "function " + r.function(),
                            r.name());
            case PortableReference.EventArgument r ->
                    argument(
                            kernel.rawTracepoint(r.event(), PointerSpace.KERNEL),
                            "raw tracepoint " + r.event(),
                            r.name());
            case SymbolReference r -> found(addresses.kernel(r.name()), "symbol " + r.name());
            case VariableReference r -> found(addresses.variable(r.name()), "variable " + r.name());
            case PortableReference.ControlGroup r -> {
                long id = addresses.cgroup(r.path());
                if (id == 0) {
                    throw new MissingException("there is no control group " + r.path());
                }
                yield id;
            }
            case OptionReference r -> option(r.name());
            case RunReference r -> fact(r.fact());
            case MemberReference _, SizeReference _ ->
                    throw new MissingException(reference + " is not a name");
        };
    }

    private long option(String name) throws MissingException {
        for (RequestedOption asked : asked) {
            if (asked.option().name().equals(name) && asked.fixed() == null) {
                return options.parameters().number(asked.option());
            }
        }
        throw new MissingException("the file does not describe its option --" + name);
    }

    private static long found(long number, String what) throws MissingException {
        if (number == 0) {
            throw lacks(what);
        }
        return number;
    }

    private long eventField(PortableReference.EventField r) throws MissingException {
        String event = "tracepoint:" + r.subsystem() + ":" + r.event();
        StructType struct = TracepointTypes.arguments(kernel, r.subsystem(), r.event());
        if (struct == null) {
            throw lacks(event);
        }
        TypeField field = struct.field(r.field());
        if (field == null) {
            throw new MissingException(event + " has no field '" + r.field() + "' on this kernel");
        }
        int bytes = field.type().sizeBytes();
        boolean fits = r.aspect() == MemberAspect.OFFSET ? bytes >= r.leastBytes() : bytes <= SLOT;
        if (!fits) {
            throw new MissingException(
                    "field '" + r.field() + "' of " + event + " has " + bytes + " bytes here");
        }
        return switch (r.aspect()) {
            case OFFSET -> field.offsetBytes();
            case SIZE -> bytes;
            case LEFT, RIGHT -> WORD_BITS - SLOT * bytes;
        };
    }

    private static long argument(@Nullable FunctionSignature signature, String what, String name)
            throws MissingException {
        if (signature == null) {
            throw lacks(what);
        }
        int count = signature.parameters().size();
        if (name.equals("$retval")) {
            return (long) SLOT * count;
        }
        for (int i = 0; i < count; i++) {
            if (signature.parameters().get(i).name().equals(name)) {
                return (long) SLOT * i;
            }
        }
        throw new MissingException(what + " has no argument '" + name + "' on this kernel");
    }

    private long fact(RunFact fact) {
        return switch (fact) {
            case CPUS -> machine.cpus();
            case CPU_MASK -> machine.cpuMask();
            case FRAME_BYTES -> frameBytes;
            case START_NANOS -> machine.bootNanos();
            case TAI_OFFSET_NANOS -> machine.taiOffsetNanos();
            case CHILD -> options.child();
            case PROCESS -> options.pid().orElse(0);
            case PID_SPACE_DEVICE -> machine.pidSpaceDevice();
            case PID_SPACE_INODE -> machine.pidSpaceInode();
        };
    }
}
