package sonde.lang.declare;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.Attribute;
import sonde.binary.dwarf.location.Entry;
import sonde.binary.dwarf.location.Location;
import sonde.binary.dwarf.location.Scope;
import sonde.binary.dwarf.location.Tag;
import sonde.binary.dwarf.location.Value;
import sonde.binary.dwarf.location.Variable;
import sonde.lang.type.Composite;
import sonde.lang.type.Type;
import sonde.symbol.ctype.CallingConvention;
import sonde.symbol.ctype.CallingConvention.Home;
import sonde.symbol.ctype.CallingConvention.Machine;
import sonde.symbol.ctype.StatedPlaces;

/**
 * Where the parameters of one function are at its entry: where its debugging information says, in a
 * register for arguments; else where the calling convention of C and C++ has them.
 */
final class Arguments {
    /** DWARF's numbers of the registers for arguments, in their order (psABI, figure 3.36). */
    private static final List<Integer> X86 = List.of(5, 4, 1, 2, 8, 9);

    private static final List<Integer> ARM = List.of(0, 1, 2, 3, 4, 5, 6, 7);

    /** DW_LANG_Go. */
    private static final int GO = 0x16;

    private static final int WORD = 8;

    private final DwarfTypes types;
    private final Entry function;
    private final boolean isClone;
    private final boolean arm;
    private final boolean isC;
    private final boolean isGo;

    /**
     * Of a function.
     *
     * @param isClone whether its compiler may have changed what it takes
     * @param arm whether the machine is AArch64, else x86-64
     */
    Arguments(DwarfTypes types, Entry function, boolean isClone, boolean arm)
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
    List<Argument> at(long entry) throws MalformedInputException {
        Map<Entry, Location> stated = entry < 0 ? Map.of() : stated(entry);
        CallingConvention convention =
                new CallingConvention(types.layout(), arm ? Machine.AARCH64 : Machine.X86_64);
        convention.result(function.type());
        List<Argument> found = new ArrayList<>();
        boolean simple = isSimple(types.type(function.type()));
        for (Entry child : function.children()) {
            if (child.tag() == Tag.FORMAL_PARAMETER) {
                Type type = types.type(child.type());
                simple &= isSimple(type);
                Location at = plain(stated.get(child), type);
                Home home = chosen(convention.next(child.type()), at, simple);
                found.add(argument(child.name(), type, home));
            }
        }
        return found;
    }

    /** Where parameters are said to be, but for what does not hold at the entry. */
    private Map<Entry, Location> stated(long entry) throws MalformedInputException {
        Map<Entry, Location> found = new HashMap<>();
        Scope scope = types.scopes().of(function, entry).orElse(null);
        if (scope != null) {
            for (Variable one : scope.variables()) {
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
    private static @Nullable Location plain(@Nullable Location stated, Type type) {
        if (!(stated instanceof Location.Computed(Value value)) || type.sizeBytes() > WORD) {
            return stated;
        }
        Value low = Value.lowest(value, type.sizeBytes());
        if (type instanceof Type.Bool
                && low instanceof Value.Operation(String symbol, Value of, Value.Constant mask)
                && symbol.equals("&")
                && mask.value() == 1) {
            low = Value.lowest(of, 1);
        }
        return low instanceof Value.Register(int number) ? new Location.InRegister(number) : stated;
    }

    /** Whether all languages hand it over alike. */
    private static boolean isSimple(Type type) {
        return !(type instanceof Composite) && type.sizeBytes() <= WORD;
    }

    private Home chosen(Home ruled, @Nullable Location stated, boolean simple)
            throws MalformedInputException {
        if (isGo) {
            return new Home.Unread(
                    "is of a function of Go, which gets it elsewhere than one of C: reg(\"ax\"),"
                            + " reg(\"bx\"), reg(\"cx\"), reg(\"di\"), … on x86-64");
        }
        int register = register(stated);
        int index = (arm ? ARM : X86).indexOf(register);
        if (index >= 0 && !(ruled instanceof Home.Registers r && r.count() > 1)) {
            return new Home.Registers(index, 1);
        }
        int behind =
                !isC && stated instanceof Location.InMemory(Value.Register of)
                        ? (arm ? ARM : X86).indexOf(of.number())
                        : -1;
        if (behind >= 0) {
            return new Home.Reference(behind);
        }
        if (isC && (function.withOwn(Attribute.EXTERNAL) != null || stated == null)) {
            return ruled;
        }
        boolean gone =
                stated instanceof Location.Absent
                        || stated instanceof Location.Computed
                        || stated instanceof Location.Bytes
                        || stated instanceof Location.ImplicitPointer;
        if (gone) {
            return new Home.Unread("has no place at the entry: the compiler left it out there");
        }
        boolean fits = isC || simple;
        return fits && (register < 0 || !(ruled instanceof Home.Registers))
                ? ruled
                : new Home.Unread(
                        "is not known where: this function may not keep to the calling"
                                + " convention of C");
    }

    /** The register that something is in, by DWARF's number; -1 for none. */
    private static int register(@Nullable Location stated) {
        return switch (stated) {
            case Location.InRegister in -> in.number();
            case Location.Computed(Value.AtEntry(Value.Register of)) -> of.number();
            case null, default -> -1;
        };
    }

    private static Argument argument(String name, Type type, Home home) {
        if (type instanceof Type.Float && !(home instanceof Home.Unread)) {
            return nowhere(name, type, "is a floating-point number, which programs cannot read");
        }
        int most = type instanceof Composite ? 2 * WORD : WORD;
        return switch (home) {
            case Home.Registers r when r.count() == 1 && type.sizeBytes() <= WORD ->
                    new Argument(name, type, Argument.Place.REGISTER, r.first(), "");
            case Home.Registers r when r.count() == 2 && type.sizeBytes() <= most ->
                    new Argument(name, type, Argument.Place.REGISTERS, r.first(), "");
            case Home.Registers _ ->
                    nowhere(name, type, "has " + type.sizeBytes() + " bytes in registers");
            case Home.Reference r ->
                    new Argument(name, type, Argument.Place.REFERENCE, r.register(), "");
            case Home.Stack s -> new Argument(name, type, Argument.Place.STACK, s.offset(), "");
            case Home.Unread u -> nowhere(name, type, u.why());
        };
    }

    private static Argument nowhere(String name, Type type, String why) {
        return new Argument(name, type, Argument.Place.NOWHERE, 0, why);
    }
}
