package sonde.bpf.object;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfWriter;

/**
 * The functions of an object that programs from elsewhere may call: those of section {@code .text}
 * that other objects see. The object's own programs are left out.
 */
public final class FunctionLibrary {
    private static final int CALL = 0x85;
    private static final int LOAD_WIDE = 0x18;

    private final ObjectFile object;
    private final Btf types;
    private final Map<String, ObjectFunction> functions = new LinkedHashMap<>();

    private FunctionLibrary(ObjectFile object) throws ObjectException {
        this.object = object;
        BtfWriter writer = new BtfWriter();
        object.types().stream().skip(1).forEach(writer::add);
        try {
            types = Btf.read(Input.of(object.name() + " .BTF", writer.bytes()));
        } catch (MalformedInputException e) {
            throw new ObjectException(object.place(), String.valueOf(e.getMessage()), e);
        }
        for (ObjectFunction function : object.functions().values()) {
            if (object.isSeen(function)) {
                functions.put(function.name(), function);
            }
        }
    }

    /**
     * The functions of an object.
     *
     * @throws ObjectException when its types cannot be read
     */
    public static FunctionLibrary of(ObjectFile object) throws ObjectException {
        return new FunctionLibrary(object);
    }

    /** The object. */
    public ObjectFile object() {
        return object;
    }

    /** Types that prototypes refer to. */
    public Btf types() {
        return types;
    }

    /** Names of its functions, in the order of the object. */
    public Set<String> names() {
        return Collections.unmodifiableSet(functions.keySet());
    }

    /** Whether it has a function that other objects do not see. */
    public boolean hides(String name) {
        return !functions.containsKey(name)
                && object.functions().values().stream()
                        .anyMatch(one -> !one.isEntry() && one.name().equals(name));
    }

    /**
     * What a function takes and gives.
     *
     * @throws ObjectException when the object does not say: it was compiled without {@code -g}
     */
    public BtfType.FuncProto prototype(String name) throws ObjectException {
        ObjectFunction function = function(name);
        if (!function.types().isEmpty()
                && function.types().getFirst().offset() == 8 * function.start()) {
            int id = function.types().getFirst().type();
            if (type(id) instanceof BtfType.Func named
                    && type(named.type()) instanceof BtfType.FuncProto prototype) {
                return prototype;
            }
        }
        throw new ObjectException(
                object.place().section(function.section()).symbol(name),
                "has no types; compile with -g");
    }

    private BtfType type(int id) throws ObjectException {
        return ObjectTypes.at(object.types(), id, object.place());
    }

    ObjectFunction function(String name) throws ObjectException {
        ObjectFunction function = functions.get(name);
        if (function == null) {
            throw new ObjectException(
                    object.place().symbol(name), "is not a function to be called");
        }
        return function;
    }

    /** Numbers of the helpers that a function calls, or functions that it calls. */
    public Set<Integer> helpers(String name) throws ObjectException {
        Set<Integer> found = new TreeSet<>();
        for (ObjectFunction one : ProgramAssembly.reachable(object, List.of(function(name)))) {
            long[] words = one.words();
            for (int slot = 0; slot < words.length; slot++) {
                int code = (int) words[slot] & 0xff;
                if (code == CALL
                        && (words[slot] >>> 12 & 0xf) == 0
                        && !one.references().containsKey(slot)) {
                    found.add((int) (words[slot] >>> 32));
                }
                slot += code == LOAD_WIDE ? 1 : 0;
            }
        }
        return found;
    }

    /**
     * Fits functions, and what they call, to the running kernel and makes the object's maps; on
     * failure nothing is left.
     *
     * @throws ObjectException when something the object wants is not there
     */
    public LoadedLibrary load(Collection<String> called) throws IOException {
        List<ObjectFunction> roots = new ArrayList<>();
        for (String name : called) {
            roots.add(function(name));
        }
        return LoadedLibrary.load(this, roots);
    }
}
