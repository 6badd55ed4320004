package sonde.recording.ctf.json;

import java.math.BigInteger;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.Bits;
import sonde.recording.ctf.schema.FieldClass.Meaning;
import sonde.recording.ctf.schema.Length;
import sonde.recording.ctf.schema.Location;
import sonde.recording.ctf.schema.Mapping;
import sonde.recording.ctf.schema.Range;
import sonde.recording.ctf.schema.Role;
import sonde.recording.ctf.schema.Scope;

/** Reads field classes (CTF2-SPEC-2.0, section 5.3). */
final class ClassReader {
    private static final int MOST_DEPTH = 64;
    private static final long MOST_ALIGNMENT = 1L << 32;
    private static final BigInteger MOST = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    private static final BigInteger MOST_SIGNED = BigInteger.valueOf(Long.MAX_VALUE);
    private static final BigInteger LEAST_SIGNED = BigInteger.valueOf(Long.MIN_VALUE);

    private final Map<String, FieldClass> aliases = new HashMap<>();

    /** Extensions may change the format, so none that is unknown may be passed over (5.1). */
    static void refuseExtensions(Value value) throws MalformedInputException {
        Value extensions = value.member("extensions");
        if (extensions == null) {
            return;
        }
        for (Map.Entry<String, Value> space : extensions.members().entrySet()) {
            for (String name : space.getValue().members().keySet()) {
                throw value.malformed(
                        "the extension "
                                + name
                                + " of "
                                + space.getKey()
                                + " is not known, so the trace must not be read");
            }
        }
    }

    void alias(Value fragment) throws MalformedInputException {
        String name = fragment.text("name");
        if (aliases.putIfAbsent(name, type(fragment, "field-class", 0)) != null) {
            throw fragment.malformed("a second field-class-alias " + name);
        }
    }

    FieldClass.@Nullable Structure structure(Value owner, String name)
            throws MalformedInputException {
        if (!owner.has(name)) {
            return null;
        }
        if (type(owner, name, 0) instanceof FieldClass.Structure structure) {
            return structure;
        }
        throw owner.malformed(name + " is no structure");
    }

    private FieldClass type(Value owner, String name, int depth) throws MalformedInputException {
        Value value = owner.member(name);
        if (value == null) {
            throw owner.malformed("no " + name);
        }
        if (value.value() instanceof String alias) {
            FieldClass type = aliases.get(alias);
            if (type == null) {
                throw owner.malformed("no field-class-alias " + alias);
            }
            return type;
        }
        if (depth > MOST_DEPTH) {
            throw owner.malformed("more than " + MOST_DEPTH + " field classes in each other");
        }
        refuseExtensions(value);
        return type(value, depth + 1);
    }

    private FieldClass type(Value value, int depth) throws MalformedInputException {
        String type = value.text("type");
        return switch (type) {
            case "fixed-length-bit-array" -> bits(value, Meaning.BITS, false);
            case "fixed-length-bit-map" -> bits(value, Meaning.BIT_MAP, false);
            case "fixed-length-boolean" -> bits(value, Meaning.BOOLEAN, false);
            case "fixed-length-unsigned-integer", "fixed-length-unsigned-enumeration" ->
                    bits(value, Meaning.INTEGER, false);
            case "fixed-length-signed-integer", "fixed-length-signed-enumeration" ->
                    bits(value, Meaning.INTEGER, true);
            case "fixed-length-floating-point-number" -> real(value);
            case "variable-length-unsigned-integer", "variable-length-unsigned-enumeration" ->
                    variable(value, false);
            case "variable-length-signed-integer", "variable-length-signed-enumeration" ->
                    variable(value, true);
            case "null-terminated-string" -> text(value, new Length.Terminated());
            case "static-length-string" -> text(value, fixed(value));
            case "dynamic-length-string" -> text(value, dynamic(value));
            case "static-length-blob" -> new FieldClass.Blob(fixed(value), roles(value));
            case "dynamic-length-blob" -> new FieldClass.Blob(dynamic(value), Set.of());
            case "structure" -> members(value, depth);
            case "static-length-array" -> array(value, fixed(value), depth);
            case "dynamic-length-array" -> array(value, dynamic(value), depth);
            case "optional" ->
                    new FieldClass.Optional(
                            location(value, "selector-field-location"),
                            value.has("selector-field-ranges")
                                    ? ranges(value, value.list("selector-field-ranges"))
                                    : null,
                            type(value, "field-class", depth));
            case "variant" -> variant(value, depth);
            default -> throw value.malformed("a field class of the type " + type);
        };
    }

    private FieldClass bits(Value value, Meaning meaning, boolean signed)
            throws MalformedInputException {
        long length = value.integer("length", 0);
        boolean wide = length > 64 && length <= FieldClass.WideInteger.MOST_BITS;
        if (wide && meaning != Meaning.BOOLEAN && roles(value).isEmpty()) {
            boolean big = isBigEndian(value);
            return new FieldClass.WideInteger(
                    (int) length,
                    alignment(value, "alignment"),
                    big,
                    isReversed(value, big),
                    signed,
                    meaning == Meaning.INTEGER ? base(value) : 16);
        }
        if (length < 1 || length > 64) {
            throw value.malformed(
                    "a " + value.text("type") + " of " + length + " bits, at most 64 are read");
        }
        boolean bigEndian = isBigEndian(value);
        List<Mapping> mappings = mappings(value, meaning == Meaning.BIT_MAP ? "flags" : "mappings");
        boolean named = meaning == Meaning.INTEGER && !mappings.isEmpty();
        return new Bits(
                (int) length,
                alignment(value, "alignment"),
                bigEndian,
                isReversed(value, bigEndian),
                signed,
                named ? Meaning.ENUMERATION : meaning,
                base(value),
                false,
                mappings,
                roles(value),
                null);
    }

    private static boolean isBigEndian(Value value) throws MalformedInputException {
        String order = value.text("byte-order");
        return switch (order) {
            case "big-endian" -> true;
            case "little-endian" -> false;
            default -> throw value.malformed("the byte order " + order);
        };
    }

    private static boolean isReversed(Value value, boolean bigEndian)
            throws MalformedInputException {
        String usual = bigEndian ? "last-to-first" : "first-to-last";
        String order = value.text("bit-order", usual);
        if (!order.equals("last-to-first") && !order.equals("first-to-last")) {
            throw value.malformed("the bit order " + order);
        }
        return !order.equals(usual);
    }

    private static long alignment(Value value, String name) throws MalformedInputException {
        long alignment = value.integer(name, 1);
        if (Long.bitCount(alignment) != 1 || alignment < 0 || alignment > MOST_ALIGNMENT) {
            throw value.malformed("an alignment of " + alignment + " bits");
        }
        return alignment;
    }

    private static int base(Value value) throws MalformedInputException {
        long base = value.integer("preferred-display-base", 10);
        if (base != 2 && base != 8 && base != 10 && base != 16) {
            throw value.malformed("the base " + base);
        }
        return (int) base;
    }

    private static Set<Role> roles(Value value) throws MalformedInputException {
        Set<Role> roles = EnumSet.noneOf(Role.class);
        for (Value name : value.list("roles")) {
            Role role = Role.named(name.text());
            if (role != null) {
                roles.add(role);
            }
        }
        return roles;
    }

    private static List<Mapping> mappings(Value value, String name) throws MalformedInputException {
        Value object = value.member(name);
        List<Mapping> mappings = new ArrayList<>();
        if (object != null) {
            for (Map.Entry<String, Value> one : object.members().entrySet()) {
                mappings.add(new Mapping(one.getKey(), ranges(value, one.getValue().list())));
            }
        }
        return mappings;
    }

    private static List<Range> ranges(Value owner, List<Value> list)
            throws MalformedInputException {
        List<Range> ranges = new ArrayList<>();
        for (Value pair : list) {
            List<Value> bounds = pair.list();
            if (bounds.size() != 2) {
                throw owner.malformed("a range of " + bounds.size() + " numbers");
            }
            BigInteger low = bounds.get(0).number();
            BigInteger high = bounds.get(1).number();
            if (low.compareTo(high) > 0) {
                throw owner.malformed("a range that ends before it begins");
            }
            // What does not fit 64 bits of the range's own sign is never met.
            boolean signed = low.signum() < 0;
            BigInteger least = signed ? LEAST_SIGNED : BigInteger.ZERO;
            BigInteger most = signed ? MOST_SIGNED : MOST;
            if (low.compareTo(most) <= 0 && high.compareTo(least) >= 0) {
                ranges.add(new Range(low.max(least).longValue(), high.min(most).longValue()));
            }
        }
        return ranges;
    }

    private static FieldClass real(Value value) throws MalformedInputException {
        long length = value.integer("length", 0);
        if (length != 16 && length != 32 && length != 64 && length != 128) {
            throw value.malformed(
                    "a floating point number of " + length + " bits; 16, 32, 64, 128 are read");
        }
        boolean bigEndian = isBigEndian(value);
        boolean reversed = isReversed(value, bigEndian);
        return new FieldClass.Real(
                (int) length, alignment(value, "alignment"), bigEndian, reversed);
    }

    private static FieldClass variable(Value value, boolean signed) throws MalformedInputException {
        List<Mapping> mappings = mappings(value, "mappings");
        return new FieldClass.VariableInteger(signed, base(value), mappings, roles(value));
    }

    private static FieldClass text(Value value, Length length) throws MalformedInputException {
        String name = value.text("encoding", "utf-8");
        Charset encoding =
                switch (name) {
                    case "utf-8" -> StandardCharsets.UTF_8;
                    case "utf-16be" -> StandardCharsets.UTF_16BE;
                    case "utf-16le" -> StandardCharsets.UTF_16LE;
                    case "utf-32be" -> StandardCharsets.UTF_32BE;
                    case "utf-32le" -> StandardCharsets.UTF_32LE;
                    default -> throw value.malformed("the encoding " + name);
                };
        int unit = name.startsWith("utf-16") ? 2 : name.startsWith("utf-32") ? 4 : 1;
        return new FieldClass.Text(encoding, unit, length);
    }

    private static Length fixed(Value value) throws MalformedInputException {
        long length = value.integer("length", -1);
        if (length < 0 || length > Long.MAX_VALUE / 64) {
            throw value.malformed("a length of " + length);
        }
        return new Length.Fixed(length);
    }

    private static Length dynamic(Value value) throws MalformedInputException {
        return new Length.Of(location(value, "length-field-location"));
    }

    /** An object with origin and path; in the release candidates an array that begins with it. */
    private static Location location(Value owner, String name) throws MalformedInputException {
        Value value = owner.member(name);
        if (value == null) {
            throw owner.malformed("no " + name);
        }
        boolean isArray = value.value() instanceof List<?>;
        List<Value> elements = isArray ? value.list() : value.list("path");
        Location.Start start = new Location.Here();
        int first = 0;
        if (isArray && !elements.isEmpty()) {
            start = root(owner, elements.get(0).text());
            first = 1;
        } else if (!isArray && value.has("origin")) {
            start = root(owner, value.text("origin"));
        }
        List<@Nullable String> path = new ArrayList<>();
        for (Value element : elements.subList(first, elements.size())) {
            path.add(element.value() == null ? null : element.text());
        }
        if (path.isEmpty() || path.getLast() == null) {
            throw owner.malformed(name + " leads nowhere");
        }
        return new Location(start, path);
    }

    private static Location.Root root(Value owner, String origin) throws MalformedInputException {
        for (Scope scope : Scope.values()) {
            if (scope.label().equals(origin)) {
                return new Location.Root(scope);
            }
        }
        throw owner.malformed("the origin " + origin);
    }

    private FieldClass members(Value value, int depth) throws MalformedInputException {
        List<FieldClass.Member> members = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Value member : value.list("member-classes")) {
            refuseExtensions(member);
            String name = member.text("name");
            if (!names.add(name)) {
                throw value.malformed("a second member of the name " + name);
            }
            members.add(new FieldClass.Member(name, type(member, "field-class", depth)));
        }
        return FieldClass.Structure.of(members, alignment(value, "minimum-alignment"));
    }

    private FieldClass array(Value value, Length length, int depth) throws MalformedInputException {
        FieldClass element = type(value, "element-field-class", depth);
        return FieldClass.Array.of(element, length, alignment(value, "minimum-alignment"));
    }

    private FieldClass variant(Value value, int depth) throws MalformedInputException {
        List<FieldClass.Option> options = new ArrayList<>();
        for (Value option : value.list("options")) {
            refuseExtensions(option);
            String name = option.text("name", "option" + options.size());
            List<Range> ranges = ranges(value, option.list("selector-field-ranges"));
            if (ranges.isEmpty()) {
                throw value.malformed("an option without selector-field-ranges");
            }
            options.add(new FieldClass.Option(name, ranges, type(option, "field-class", depth)));
        }
        if (options.isEmpty()) {
            throw value.malformed("a variant without options");
        }
        return new FieldClass.Variant(location(value, "selector-field-location"), options);
    }
}
