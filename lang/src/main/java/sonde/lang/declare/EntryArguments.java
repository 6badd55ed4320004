package sonde.lang.declare;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.DwarfTag;
import sonde.binary.dwarf.location.ObjectLocation;
import sonde.binary.dwarf.location.ObjectLocation.AbsentLocation;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitBytes;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitValue;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.dwarf.location.SourceVariable;
import sonde.binary.dwarf.location.SymbolicValue;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;
import sonde.binary.dwarf.location.SymbolicValue.OperationValue;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.lang.declare.EntryArgument.ArgumentPlace;
import sonde.lang.type.CompositeType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.FloatType;
import sonde.symbol.ctype.CallingConvention;
import sonde.symbol.ctype.CallingConvention.ConventionMachine;
import sonde.symbol.ctype.CallingConvention.ParameterHome;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeReference;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeRegisters;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeStack;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeUnread;
import sonde.symbol.ctype.StatedPlaces;

/**
 * Where the parameters of one function are at its entry: where its debugging information says, in a
 * register for arguments; else where the calling convention of C and C++ has them.
 */
final class EntryArguments {
    /** DWARF's numbers of the registers for arguments, in their order (psABI, figure 3.36). */
    private static final List<Integer> X86 = List.of(5, 4, 1, 2, 8, 9);

    private static final List<Integer> ARM = List.of(0, 1, 2, 3, 4, 5, 6, 7);

    /** DW_LANG_Go. */
    private static final int GO = 0x16;

    private static final int WORD = 8;

    private final DwarfTypes types;
    private final DebugEntry function;
    private final boolean isClone;
    private final boolean arm;
    private final boolean isC;
    private final boolean isGo;

    /**
     * The arguments of a function.
     *
     * @param isClone whether its compiler may have changed what it takes
     * @param arm whether the machine is AArch64, else x86-64
     */
    EntryArguments(DwarfTypes types, DebugEntry function, boolean isClone, boolean arm)
            throws MalformedInputException {
        this.isClone = isClone;
        this.types = types;
        this.function = function;
        this.arm = arm;
        int language = function.unit().language();
        this.isC = CallingConvention.isOf(language);
        this.isGo = language == GO;
    }

    /**
     * Them all.
     *
     * @param entry as stated in the ELF; -1 where only the name led to the function
     */
    List<EntryArgument> at(long entry) throws MalformedInputException {
        Map<DebugEntry, ObjectLocation> stated = entry < 0 ? Map.of() : stated(entry);
        CallingConvention convention =
                new CallingConvention(
                        types.layout(), arm ? ConventionMachine.AARCH64 : ConventionMachine.X86_64);
        convention.result(function.type());
        List<EntryArgument> found = new ArrayList<>();
        boolean simple = isSimple(types.type(function.type()));
        for (DebugEntry child : function.children()) {
            if (child.tag() == DwarfTag.FORMAL_PARAMETER) {
                ValueType type = types.type(child.type());
                simple &= isSimple(type);
                ObjectLocation at = plain(stated.get(child), type);
                ParameterHome home = chosen(convention.next(child.type()), at, simple);
                found.add(argument(child.name(), type, home));
            }
        }
        return found;
    }

    /** Where parameters are said to be, but for what does not hold at the entry. */
    private Map<DebugEntry, ObjectLocation> stated(long entry) throws MalformedInputException {
        Map<DebugEntry, ObjectLocation> found = new HashMap<>();
        SourceScope scope = types.scopes().of(function, entry).orElse(null);
        if (scope != null) {
            for (SourceVariable one : scope.variables()) {
                boolean doubted = isC && !isClone && StatedPlaces.isDoubted(one, scope);
                if (one.isParameter() && !doubted) {
                    found.put(one.entry(), one.location());
                }
            }
        }
        return found;
    }

    /**
     * Narrow numbers that lie in wider registers lie in registers; a truth value's byte is 0 or 1.
     */
    private static @Nullable ObjectLocation plain(@Nullable ObjectLocation stated, ValueType type) {
        if (!(stated instanceof ImplicitValue(SymbolicValue value)) || type.sizeBytes() > WORD) {
            return stated;
        }
        SymbolicValue low = SymbolicValue.lowest(value, type.sizeBytes());
        if (type instanceof BoolType
                && low
                        instanceof
                        OperationValue(String symbol, SymbolicValue of, ConstantValue mask)
                && symbol.equals("&")
                && mask.value() == 1) {
            low = SymbolicValue.lowest(of, 1);
        }
        return low instanceof RegisterValue(int number)
                ? new ObjectLocation.InRegister(number)
                : stated;
    }

    /** Whether all languages hand it over alike. */
    private static boolean isSimple(ValueType type) {
        return !(type instanceof CompositeType) && type.sizeBytes() <= WORD;
    }

    private ParameterHome chosen(
            ParameterHome ruled, @Nullable ObjectLocation stated, boolean simple)
            throws MalformedInputException {
        if (isGo) {
            return new HomeUnread(
                    "is of a function of Go, which gets it elsewhere than one of C: reg(\"ax\"),"
                            + " reg(\"bx\"), reg(\"cx\"), reg(\"di\"), … on x86-64");
        }
        int register = register(stated);
        int index = (arm ? ARM : X86).indexOf(register);
        if (index >= 0 && !(ruled instanceof HomeRegisters r && r.count() > 1)) {
            return new HomeRegisters(index, 1);
        }
        int behind =
                !isC && stated instanceof ObjectLocation.InMemory(RegisterValue of)
                        ? (arm ? ARM : X86).indexOf(of.number())
                        : -1;
        if (behind >= 0) {
            return new HomeReference(behind);
        }
        if (isC && (function.withOwn(DwarfAttribute.EXTERNAL) != null || stated == null)) {
            return ruled;
        }
        boolean gone =
                stated instanceof AbsentLocation
                        || stated instanceof ImplicitValue
                        || stated instanceof ImplicitBytes
                        || stated instanceof ObjectLocation.ImplicitPointer;
        if (gone) {
            return new HomeUnread("has no place at the entry: the compiler left it out there");
        }
        boolean fits = isC || simple;
        return fits && (register < 0 || !(ruled instanceof HomeRegisters))
                ? ruled
                : new HomeUnread(
                        "is not known where: this function may not keep to the calling"
                                + " convention of C");
    }

    /** The register that something is in, by DWARF's number; -1 for none. */
    private static int register(@Nullable ObjectLocation stated) {
        return switch (stated) {
            case ObjectLocation.InRegister in -> in.number();
            case ImplicitValue(SymbolicValue.AtEntry(RegisterValue of)) -> of.number();
            case null, default -> -1;
        };
    }

    private static EntryArgument argument(String name, ValueType type, ParameterHome home) {
        if (type instanceof FloatType && !(home instanceof HomeUnread)) {
            return nowhere(name, type, "is a floating-point number, which programs cannot read");
        }
        int most = type instanceof CompositeType ? 2 * WORD : WORD;
        return switch (home) {
            case HomeRegisters r when r.count() == 1 && type.sizeBytes() <= WORD ->
                    new EntryArgument(name, type, ArgumentPlace.REGISTER, r.first(), "");
            case HomeRegisters r when r.count() == 2 && type.sizeBytes() <= most ->
                    new EntryArgument(name, type, ArgumentPlace.REGISTERS, r.first(), "");
            case HomeRegisters _ ->
                    nowhere(name, type, "has " + type.sizeBytes() + " bytes in registers");
            case HomeReference r ->
                    new EntryArgument(name, type, ArgumentPlace.REFERENCE, r.register(), "");
            case HomeStack s -> new EntryArgument(name, type, ArgumentPlace.STACK, s.offset(), "");
            case HomeUnread u -> nowhere(name, type, u.why());
        };
    }

    private static EntryArgument nowhere(String name, ValueType type, String why) {
        return new EntryArgument(name, type, ArgumentPlace.NOWHERE, 0, why);
    }
}
