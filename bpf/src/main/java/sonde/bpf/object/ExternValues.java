package sonde.bpf.object;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;
import sonde.binary.btf.NameFlavour;
import sonde.bpf.core.TypeCompatibility;
import sonde.bpf.object.ExternValues.FoundExtern.ExternAddress;
import sonde.bpf.object.ExternValues.FoundExtern.MissingExtern;
import sonde.bpf.object.ExternValues.FoundExtern.TypedExtern;
import sonde.bpf.object.KernelBtfs.ModuleBtf;
import sonde.bpf.object.ObjectException.ObjectPosition;

/** What the running kernel has for the externs of an object. */
final class ExternValues {
    private static final int MOST_DIGITS = 24;
    private static final String SYSCALL_WRAPPER = "LINUX_HAS_SYSCALL_WRAPPER";

    private final ObjectFile object;
    private final KernelBtfs kernel;
    private final Map<String, FoundExtern> found = new HashMap<>();
    private byte[] settings = new byte[0];

    /** Something of the kernel. */
    sealed interface FoundExtern {
        /** Not there, and need not be. */
        record MissingExtern() implements FoundExtern {}

        /** An address of kallsyms. */
        record ExternAddress(long address) implements FoundExtern {}

        /**
         * A variable or function by its BTF id.
         *
         * @param module null for the kernel itself
         */
        record TypedExtern(int id, KernelBtfs.@Nullable ModuleBtf module) implements FoundExtern {}
    }

    private ExternValues(ObjectFile object, KernelBtfs kernel) {
        this.object = object;
        this.kernel = kernel;
    }

    /**
     * Looks all of them up.
     *
     * @throws ObjectException naming the first that is missing and not weak
     */
    static ExternValues resolve(ObjectFile object, KernelBtfs kernel) throws IOException {
        ExternValues values = new ExternValues(object, kernel);
        values.resolve();
        return values;
    }

    /** What was found under a name. */
    FoundExtern found(ExternSymbol extern) {
        return found.getOrDefault(extern.name(), new MissingExtern());
    }

    /** The bytes of the map of settings; empty for none. */
    byte[] settings() {
        return settings;
    }

    private ObjectPosition place(ExternSymbol extern) {
        String section =
                extern.kind() == ExternSymbol.Kind.CONFIG
                        ? TypeFixes.CONFIG_SECTION
                        : TypeFixes.KERNEL_SECTION;
        return object.place().section(section).symbol(extern.name());
    }

    private void resolve() throws IOException {
        Set<String> addresses = new HashSet<>();
        ByteBuffer config =
                ByteBuffer.allocate(object.fixes().configBytes()).order(ByteOrder.nativeOrder());
        for (ExternSymbol extern : object.fixes().externs().values()) {
            switch (extern.kind()) {
                case CONFIG -> {
                    int at = object.fixes().configOffsets().getOrDefault(extern.name(), 0);
                    setting(extern, config.position(at));
                }
                case ADDRESS -> addresses.add(extern.name());
                case VARIABLE -> typed(extern, BtfType.Var.class);
                case FUNCTION -> typed(extern, BtfType.Func.class);
            }
        }
        settings = config.array();
        if (!addresses.isEmpty()) {
            addresses(addresses);
        }
    }

    private void addresses(Set<String> names) throws IOException {
        Map<String, Long> all = KernelBtfs.addresses(names);
        for (String name : names) {
            ExternSymbol extern = object.fixes().externs().get(name);
            Long address = all.get(name);
            if (extern == null) {
                continue;
            }
            if (address != null && address == -1) {
                throw new ObjectException(
                        place(extern), "several symbols of kallsyms are called so");
            }
            if (address != null) {
                found.put(name, new ExternAddress(address));
            } else {
                missing(extern, "kallsyms has no symbol of that name");
            }
        }
    }

    private void missing(ExternSymbol extern, String why) throws ObjectException {
        if (!extern.weak()) {
            throw new ObjectException(place(extern), why + "; declare it __weak to do without");
        }
        found.put(extern.name(), new MissingExtern());
    }

    private void typed(ExternSymbol extern, Class<? extends BtfType> kind) throws IOException {
        String name = NameFlavour.without(extern.name());
        Btf btf = kernel.vmlinux().btf();
        int id = btf.find(name, kind::isInstance);
        ModuleBtf in = null;
        if (id == 0) {
            for (ModuleBtf module : kernel.moduleTypes()) {
                id = module.btf().find(name, kind::isInstance);
                if (id != 0) {
                    in = module;
                    btf = module.btf();
                    break;
                }
            }
        }
        if (id == 0) {
            missing(extern, "this kernel's BTF has no such " + kind.getSimpleName());
            return;
        }
        if (!fits(extern, btf, id)) {
            if (!extern.weak()) {
                throw new ObjectException(
                        place(extern), "is of another type in this kernel (BTF id " + id + ")");
            }
            found.put(extern.name(), new MissingExtern());
            return;
        }
        found.put(extern.name(), new TypedExtern(id, in));
    }

    private boolean fits(ExternSymbol extern, Btf btf, int id) throws MalformedInputException {
        int theirs =
                switch (btf.type(id)) {
                    case BtfType.Var v -> v.type();
                    case BtfType.Func f -> f.type();
                    case BtfType _ -> 0;
                };
        List<BtfType> types = object.types();
        return new TypeCompatibility(one -> ObjectLoader.type(types, one), btf::type)
                .types(extern.type(), theirs);
    }

    /** Writes a setting where it belongs. */
    private void setting(ExternSymbol extern, ByteBuffer to) throws IOException {
        String name = extern.name();
        int size = ObjectTypes.size(object.types(), extern.type(), place(extern));
        switch (name) {
            case "LINUX_KERNEL_VERSION" -> write(extern, KernelBtfs.version(), size, to);
            case "LINUX_HAS_BPF_COOKIE" ->
                    write(extern, KernelBtfs.version() >= 0x050f00 ? 1 : 0, size, to);
            case SYSCALL_WRAPPER -> {
                Set<String> wrappers = Set.of("__x64_sys_bpf", "__arm64_sys_bpf");
                boolean has = !KernelBtfs.addresses(wrappers).isEmpty();
                write(extern, has ? 1 : 0, size, to);
            }
            default -> {
                if (!name.startsWith("CONFIG_")) {
                    missing(extern, "is no setting of a kernel");
                    return;
                }
                String value = kernel.setting(name);
                if (value == null) {
                    missing(extern, "is not set in this kernel's configuration");
                    return;
                }
                value(extern, value, size, to);
            }
        }
    }

    /** Values are y, m, n, a number, or a text in quotation marks. */
    private void value(ExternSymbol extern, String value, int size, ByteBuffer to)
            throws ObjectException {
        BtfType type = ObjectTypes.skip(object.types(), extern.type(), place(extern));
        if (value.startsWith("\"") && value.endsWith("\"") && value.length() > 1) {
            if (!(type instanceof BtfType.Array)) {
                throw unfit(extern, value, type);
            }
            byte[] text = value.substring(1, value.length() - 1).getBytes(StandardCharsets.UTF_8);
            to.put(text, 0, Math.min(text.length, Math.max(0, size - 1)));
            return;
        }
        switch (value) {
            case "y", "m", "n" -> {
                boolean tristate = type instanceof BtfType.Enum;
                boolean letter =
                        type instanceof BtfType.Int i
                                && i.sizeBytes() == 1
                                && i.encoding() != IntEncoding.BOOL;
                boolean flag = type instanceof BtfType.Int i && i.encoding() == IntEncoding.BOOL;
                if (!tristate && !letter && !(flag && !value.equals("m"))) {
                    throw unfit(extern, value, type);
                }
                int number =
                        letter
                                ? value.charAt(0)
                                : value.equals("y") ? 1 : value.equals("m") ? 2 : 0;
                write(extern, number, size, to);
            }
            default -> number(extern, value, type, size, to);
        }
    }

    private ObjectException unfit(ExternSymbol extern, String value, BtfType type) {
        String kind = type.name().isEmpty() ? type.getClass().getSimpleName() : type.name();
        return new ObjectException(
                place(extern), "is '%s' in this kernel, which no %s is".formatted(value, kind));
    }

    /** A number, which fits all integers but bool; above 2^63 only unsigned ones. */
    private void number(ExternSymbol extern, String value, BtfType type, int size, ByteBuffer to)
            throws ObjectException {
        if (!(type instanceof BtfType.Int number) || number.encoding() == IntEncoding.BOOL) {
            throw unfit(extern, value, type);
        }
        BigInteger exact;
        try {
            if (value.length() > MOST_DIGITS) {
                throw new NumberFormatException(value);
            }
            boolean hex = value.startsWith("0x") || value.startsWith("0X");
            exact = hex ? new BigInteger(value.substring(2), 16) : new BigInteger(value);
        } catch (NumberFormatException e) {
            throw new ObjectException(place(extern), "'" + value + "' is not a number", e);
        }
        boolean isSigned = number.encoding() == IntEncoding.SIGNED;
        boolean fits =
                isSigned
                        ? exact.bitLength() < 8 * size
                        : exact.signum() >= 0 && exact.bitLength() <= 8 * size;
        if (!fits) {
            throw new ObjectException(
                    place(extern),
                    "%s does not fit %d bytes %s"
                            .formatted(value, size, isSigned ? "with a sign" : "without a sign"));
        }
        write(extern, exact.longValue(), size, to);
    }

    private void write(ExternSymbol extern, long value, int size, ByteBuffer to)
            throws ObjectException {
        switch (size) {
            case 1 -> to.put((byte) value);
            case 2 -> to.putShort((short) value);
            case 4 -> to.putInt((int) value);
            case 8 -> to.putLong(value);
            default -> throw new ObjectException(place(extern), "a number of " + size + " bytes");
        }
    }
}
