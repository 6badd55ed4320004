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
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.BitMeaning;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ctf.schema.FieldClass.VariantOption;
import sonde.recording.ctf.schema.FieldLength;
import sonde.recording.ctf.schema.FieldLength.LengthField;
import sonde.recording.ctf.schema.FieldLocation;
import sonde.recording.ctf.schema.FieldLocation.PathStart;
import sonde.recording.ctf.schema.FieldLocation.RootStructure;
import sonde.recording.ctf.schema.FieldLocation.SameStructure;
import sonde.recording.ctf.schema.FieldRole;
import sonde.recording.ctf.schema.LabelRanges;
import sonde.recording.ctf.schema.RootScope;
import sonde.recording.ctf.schema.ValueRange;

/** Reads field classes (CTF2-SPEC-2.0, section 5.3). */
final class ClassReader {
    private static final int MOST_DEPTH = 64;
    private static final long MOST_ALIGNMENT = 1L << 32;
    private static final BigInteger MOST = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    private static final BigInteger MOST_SIGNED = BigInteger.valueOf(Long.MAX_VALUE);
    private static final BigInteger LEAST_SIGNED = BigInteger.valueOf(Long.MIN_VALUE);

    private final Map<String, FieldClass> aliases = new HashMap<>();

    /** Extensions may change the format, so none that is unknown may be passed over (5.1). */
    static void refuseExtensions(JsonFragment value) throws MalformedInputException {
        JsonFragment extensions = value.member("extensions");
        if (extensions == null) {
            return;
        }
        for (Map.Entry<String, JsonFragment> space : extensions.members().entrySet()) {
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

    void alias(JsonFragment fragment) throws MalformedInputException {
        String name = fragment.text("name");
        if (aliases.putIfAbsent(name, type(fragment, "field-class", 0)) != null) {
            throw fragment.malformed("a second field-class-alias " + name);
        }
    }

    FieldClass.@Nullable StructureClass structure(JsonFragment owner, String name)
            throws MalformedInputException {
        if (!owner.has(name)) {
            return null;
        }
        if (type(owner, name, 0) instanceof StructureClass structure) {
            return structure;
        }
        throw owner.malformed(name + " is no structure");
    }

    private FieldClass type(JsonFragment owner, String name, int depth)
            throws MalformedInputException {
        JsonFragment value = owner.member(name);
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

    private FieldClass type(JsonFragment value, int depth) throws MalformedInputException {
        String type = value.text("type");
        return switch (type) {
            case "fixed-length-bit-array" -> bits(value, BitMeaning.BITS, false);
            case "fixed-length-bit-map" -> bits(value, BitMeaning.BIT_MAP, false);
            case "fixed-length-boolean" -> bits(value, BitMeaning.BOOLEAN, false);
            case "fixed-length-unsigned-integer", "fixed-length-unsigned-enumeration" ->
                    bits(value, BitMeaning.INTEGER, false);
            case "fixed-length-signed-integer", "fixed-length-signed-enumeration" ->
                    bits(value, BitMeaning.INTEGER, true);
            case "fixed-length-floating-point-number" -> real(value);
            case "variable-length-unsigned-integer", "variable-length-unsigned-enumeration" ->
                    variable(value, false);
            case "variable-length-signed-integer", "variable-length-signed-enumeration" ->
                    variable(value, true);
            case "null-terminated-string" -> text(value, new FieldLength.Terminated());
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

    private FieldClass bits(JsonFragment value, BitMeaning meaning, boolean signed)
            throws MalformedInputException {
        long length = value.integer("length", 0);
        boolean wide = length > 64 && length <= FieldClass.WideInteger.MOST_BITS;
        if (wide && meaning != BitMeaning.BOOLEAN && roles(value).isEmpty()) {
            boolean big = isBigEndian(value);
            return new FieldClass.WideInteger(
                    (int) length,
                    alignment(value, "alignment"),
                    big,
                    isReversed(value, big),
                    signed,
                    meaning == BitMeaning.INTEGER ? base(value) : 16);
        }
        if (length < 1 || length > 64) {
            throw value.malformed(
                    "a " + value.text("type") + " of " + length + " bits, at most 64 are read");
        }
        boolean bigEndian = isBigEndian(value);
        List<LabelRanges> mappings =
                mappings(value, meaning == BitMeaning.BIT_MAP ? "flags" : "mappings");
        boolean named = meaning == BitMeaning.INTEGER && !mappings.isEmpty();
        return new BitField(
                (int) length,
                alignment(value, "alignment"),
                bigEndian,
                isReversed(value, bigEndian),
                signed,
                named ? BitMeaning.ENUMERATION : meaning,
                base(value),
                false,
                mappings,
                roles(value),
                null);
    }

    private static boolean isBigEndian(JsonFragment value) throws MalformedInputException {
        String order = value.text("byte-order");
        return switch (order) {
            case "big-endian" -> true;
            case "little-endian" -> false;
            default -> throw value.malformed("the byte order " + order);
        };
    }

    private static boolean isReversed(JsonFragment value, boolean bigEndian)
            throws MalformedInputException {
        String usual = bigEndian ? "last-to-first" : "first-to-last";
        String order = value.text("bit-order", usual);
        if (!order.equals("last-to-first") && !order.equals("first-to-last")) {
            throw value.malformed("the bit order " + order);
        }
        return !order.equals(usual);
    }

    private static long alignment(JsonFragment value, String name) throws MalformedInputException {
        long alignment = value.integer(name, 1);
        if (Long.bitCount(alignment) != 1 || alignment < 0 || alignment > MOST_ALIGNMENT) {
            throw value.malformed("an alignment of " + alignment + " bits");
        }
        return alignment;
    }

    private static int base(JsonFragment value) throws MalformedInputException {
        long base = value.integer("preferred-display-base", 10);
        if (base != 2 && base != 8 && base != 10 && base != 16) {
            throw value.malformed("the base " + base);
        }
        return (int) base;
    }

    private static Set<FieldRole> roles(JsonFragment value) throws MalformedInputException {
        Set<FieldRole> roles = EnumSet.noneOf(FieldRole.class);
        for (JsonFragment name : value.list("roles")) {
            FieldRole role = FieldRole.named(name.text());
            if (role != null) {
                roles.add(role);
            }
        }
        return roles;
    }

    private static List<LabelRanges> mappings(JsonFragment value, String name)
            throws MalformedInputException {
        JsonFragment object = value.member(name);
        List<LabelRanges> mappings = new ArrayList<>();
        if (object != null) {
            for (Map.Entry<String, JsonFragment> one : object.members().entrySet()) {
                mappings.add(new LabelRanges(one.getKey(), ranges(value, one.getValue().list())));
            }
        }
        return mappings;
    }

    private static List<ValueRange> ranges(JsonFragment owner, List<JsonFragment> list)
            throws MalformedInputException {
        List<ValueRange> ranges = new ArrayList<>();
        for (JsonFragment pair : list) {
            List<JsonFragment> bounds = pair.list();
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
                ranges.add(new ValueRange(low.max(least).longValue(), high.min(most).longValue()));
            }
        }
        return ranges;
    }

    private static FieldClass real(JsonFragment value) throws MalformedInputException {
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

    private static FieldClass variable(JsonFragment value, boolean signed)
            throws MalformedInputException {
        List<LabelRanges> mappings = mappings(value, "mappings");
        return new FieldClass.VariableInteger(signed, base(value), mappings, roles(value));
    }

    private static FieldClass text(JsonFragment value, FieldLength length)
            throws MalformedInputException {
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
        return new TextClass(encoding, unit, length);
    }

    private static FieldLength fixed(JsonFragment value) throws MalformedInputException {
        long length = value.integer("length", -1);
        if (length < 0 || length > Long.MAX_VALUE / 64) {
            throw value.malformed("a length of " + length);
        }
        return new FieldLength.Fixed(length);
    }

    private static FieldLength dynamic(JsonFragment value) throws MalformedInputException {
        return new LengthField(location(value, "length-field-location"));
    }

    /** An object with origin and path; in the release candidates an array that begins with it. */
    private static FieldLocation location(JsonFragment owner, String name)
            throws MalformedInputException {
        JsonFragment value = owner.member(name);
        if (value == null) {
            throw owner.malformed("no " + name);
        }
        boolean isArray = value.value() instanceof List<?>;
        List<JsonFragment> elements = isArray ? value.list() : value.list("path");
        PathStart start = new SameStructure();
        int first = 0;
        if (isArray && !elements.isEmpty()) {
            start = root(owner, elements.get(0).text());
            first = 1;
        } else if (!isArray && value.has("origin")) {
            start = root(owner, value.text("origin"));
        }
        List<@Nullable String> path = new ArrayList<>();
        for (JsonFragment element : elements.subList(first, elements.size())) {
            path.add(element.value() == null ? null : element.text());
        }
        if (path.isEmpty() || path.getLast() == null) {
            throw owner.malformed(name + " leads nowhere");
        }
        return new FieldLocation(start, path);
    }

    private static RootStructure root(JsonFragment owner, String origin)
            throws MalformedInputException {
        for (RootScope scope : RootScope.values()) {
            if (scope.label().equals(origin)) {
                return new RootStructure(scope);
            }
        }
        throw owner.malformed("the origin " + origin);
    }

    private FieldClass members(JsonFragment value, int depth) throws MalformedInputException {
        List<FieldClass.Member> members = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (JsonFragment member : value.list("member-classes")) {
            refuseExtensions(member);
            String name = member.text("name");
            if (!names.add(name)) {
                throw value.malformed("a second member of the name " + name);
            }
            members.add(new FieldClass.Member(name, type(member, "field-class", depth)));
        }
        return StructureClass.of(members, alignment(value, "minimum-alignment"));
    }

    private FieldClass array(JsonFragment value, FieldLength length, int depth)
            throws MalformedInputException {
        FieldClass element = type(value, "element-field-class", depth);
        return FieldClass.Array.of(element, length, alignment(value, "minimum-alignment"));
    }

    private FieldClass variant(JsonFragment value, int depth) throws MalformedInputException {
        List<VariantOption> options = new ArrayList<>();
        for (JsonFragment option : value.list("options")) {
            refuseExtensions(option);
            String name = option.text("name", "option" + options.size());
            List<ValueRange> ranges = ranges(value, option.list("selector-field-ranges"));
            if (ranges.isEmpty()) {
                throw value.malformed("an option without selector-field-ranges");
            }
            options.add(new VariantOption(name, ranges, type(option, "field-class", depth)));
        }
        if (options.isEmpty()) {
            throw value.malformed("a variant without options");
        }
        return new VariantClass(location(value, "selector-field-location"), options);
    }
}
