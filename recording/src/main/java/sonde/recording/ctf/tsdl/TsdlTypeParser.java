package sonde.recording.ctf.tsdl;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
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
import sonde.recording.ctf.schema.FieldLocation.NearestStructure;
import sonde.recording.ctf.schema.FieldLocation.RootStructure;
import sonde.recording.ctf.schema.LabelRanges;
import sonde.recording.ctf.schema.RootScope;
import sonde.recording.ctf.schema.ValueRange;
import sonde.recording.ctf.tsdl.TsdlLexer.Kind;
import sonde.recording.ctf.tsdl.TsdlLexer.TsdlToken;

/** Parses types: CTF 1.8.3, sections 4 and 7.3. */
final class TsdlTypeParser {
    private static final int MOST_DEPTH = 64;
    private static final long MOST_ALIGNMENT = 1L << 32;
    private static final TextClass STRING =
            new TextClass(StandardCharsets.UTF_8, 1, new FieldLength.Terminated());

    private final TokenCursor tokens;
    private TsdlTypes types;
    private boolean bigEndian;
    private int depth;

    /** A declared name with its type. */
    record TsdlDeclaration(String name, FieldClass type) {}

    TsdlTypeParser(TokenCursor tokens, boolean bigEndian) {
        this.tokens = tokens;
        this.bigEndian = bigEndian;
        this.types = new TsdlTypes(null);
    }

    /** Begins a block with its own names. */
    void enter() throws MalformedInputException {
        if (++depth > MOST_DEPTH) {
            throw tokens.malformed("more than " + MOST_DEPTH + " blocks in each other");
        }
        types = new TsdlTypes(types);
    }

    /** Ends a block that began from these names. */
    void leave(TsdlTypes outer) {
        depth--;
        types = outer;
    }

    TsdlTypes types() {
        return types;
    }

    /**
     * {@code typealias}, {@code typedef} or the declaration of a named type; whether it was one.
     */
    boolean declaration() throws MalformedInputException {
        if (tokens.acceptWord("typealias")) {
            FieldClass type = suffixes(pointers(specifier()));
            tokens.expect(":=");
            String name = typeName();
            if (!types.define(name, type)) {
                throw tokens.malformed("a second type of the name " + name);
            }
            tokens.expect(";");
            return true;
        }
        if (tokens.acceptWord("typedef")) {
            FieldClass type = specifier();
            do {
                TsdlDeclaration declared = declarator(type);
                if (!types.define(declared.name, declared.type)) {
                    throw tokens.malformed("a second type of the name " + declared.name);
                }
            } while (tokens.accept(","));
            tokens.expect(";");
            return true;
        }
        TsdlToken token = tokens.peek();
        if (token.isWord("struct") || token.isWord("enum") || token.isWord("variant")) {
            specifierOrVariant();
            tokens.expect(";");
            return true;
        }
        return false;
    }

    /** The words of a type's name: {@code unsigned long}, {@code const char *}, without const. */
    private String typeName() throws MalformedInputException {
        tokens.acceptWord("const");
        StringBuilder name = new StringBuilder(tokens.word("a type's name"));
        while (tokens.peek().kind() == Kind.WORD || tokens.peek().is("*")) {
            String part = tokens.take().text();
            name.append(part.equals("const") ? "" : " " + part);
        }
        return name.toString();
    }

    /** A type where no variant without selector may stand. */
    FieldClass specifier() throws MalformedInputException {
        FieldClass type = specifierOrVariant();
        if (type == null) {
            throw tokens.malformed("a variant without <selector>");
        }
        return type;
    }

    private @Nullable FieldClass specifierOrVariant() throws MalformedInputException {
        if (++depth > MOST_DEPTH) {
            throw tokens.malformed("more than " + MOST_DEPTH + " types in each other");
        }
        tokens.acceptWord("const");
        TsdlToken token = tokens.peek();
        if (token.kind() != Kind.WORD) {
            throw tokens.unexpected("a type");
        }
        FieldClass type =
                switch (token.text()) {
                    case "struct" -> structure();
                    case "variant" -> variant();
                    case "enum" -> enumeration();
                    case "integer" -> {
                        tokens.take();
                        yield new TsdlAttributes(tokens, bigEndian).integer();
                    }
                    case "floating_point" -> {
                        tokens.take();
                        yield new TsdlAttributes(tokens, bigEndian).real();
                    }
                    case "string" -> {
                        tokens.take();
                        if (tokens.peek().is("{")) {
                            new TsdlAttributes(tokens, bigEndian).text();
                        }
                        yield STRING;
                    }
                    default -> named();
                };
        depth--;
        return type;
    }

    /** The longest known name; in a declaration the last word is the field's. */
    private FieldClass named() throws MalformedInputException {
        int words = 0;
        while (tokens.peek(words).kind() == Kind.WORD) {
            words++;
        }
        int stars = words;
        StringBuilder full = new StringBuilder();
        for (int i = 0; i < words; i++) {
            full.append(i == 0 ? "" : " ").append(tokens.peek(i).text());
        }
        StringBuilder pointer = new StringBuilder(full);
        while (tokens.peek(stars).is("*")) {
            pointer.append(" *");
            stars++;
        }
        if (stars > words && types.find(pointer.toString()) instanceof FieldClass type) {
            skip(stars);
            return type;
        }
        for (int used = words; used > 0; used--) {
            StringBuilder name = new StringBuilder();
            for (int i = 0; i < used; i++) {
                name.append(i == 0 ? "" : " ").append(tokens.peek(i).text());
            }
            FieldClass type = types.find(name.toString());
            if (type != null) {
                skip(used);
                return type;
            }
        }
        throw tokens.malformed(tokens.peek(), "no type of the name " + full);
    }

    private void skip(int count) {
        for (int i = 0; i < count; i++) {
            tokens.take();
        }
    }

    private FieldClass structure() throws MalformedInputException {
        tokens.take();
        String name =
                tokens.peek().kind() == Kind.WORD && !tokens.peek().isWord("align")
                        ? tokens.take().text()
                        : null;
        if (!tokens.peek().is("{")) {
            FieldClass known = name == null ? null : types.find("struct " + name);
            if (known == null) {
                throw tokens.malformed("no struct " + name);
            }
            return known;
        }
        List<FieldClass.Member> members = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (TsdlDeclaration declared : block()) {
            String member = bare(declared.name);
            if (!names.add(member)) {
                throw tokens.malformed("a second field of the name " + declared.name);
            }
            members.add(new FieldClass.Member(member, declared.type));
        }
        long alignment = 1;
        if (tokens.acceptWord("align")) {
            tokens.expect("(");
            alignment = alignment(tokens.number("an alignment"));
            tokens.expect(")");
        }
        FieldClass type = StructureClass.of(members, alignment);
        if (name != null && !types.define("struct " + name, type)) {
            throw tokens.malformed("a second struct " + name);
        }
        return type;
    }

    /** Fields in braces. */
    private List<TsdlDeclaration> block() throws MalformedInputException {
        tokens.expect("{");
        TsdlTypes outer = types;
        enter();
        List<TsdlDeclaration> fields = new ArrayList<>();
        while (!tokens.accept("}")) {
            TsdlToken token = tokens.peek();
            if (token.isWord("typealias") || token.isWord("typedef")) {
                declaration();
                continue;
            }
            FieldClass type = specifierOrVariant();
            if (type == null || tokens.peek().is(";")) {
                tokens.expect(";"); // a type that is only named
                continue;
            }
            do {
                fields.add(declarator(type));
            } while (tokens.accept(","));
            tokens.expect(";");
        }
        leave(outer);
        return fields;
    }

    /** Pointers are of no meaning in a trace. */
    private FieldClass pointers(FieldClass type) {
        while (tokens.accept("*")) {
            tokens.acceptWord("const");
        }
        return type;
    }

    TsdlDeclaration declarator(FieldClass type) throws MalformedInputException {
        pointers(type);
        String name = tokens.word("a field's name");
        return new TsdlDeclaration(name, suffixes(type));
    }

    /** {@code [n]} and {@code [length]}: of several the last is innermost, as in C. */
    private FieldClass suffixes(FieldClass type) throws MalformedInputException {
        if (!tokens.accept("[")) {
            return type;
        }
        if (++depth > MOST_DEPTH) {
            throw tokens.malformed("more than " + MOST_DEPTH + " arrays in each other");
        }
        FieldLength length;
        if (tokens.peek().kind() == Kind.WORD) {
            length = new LengthField(location("]"));
        } else {
            long count = tokens.number("a length");
            if (count < 0) {
                throw tokens.malformed("an array of " + count + " elements");
            }
            length = new FieldLength.Fixed(count);
        }
        tokens.expect("]");
        FieldClass element = suffixes(type);
        depth--;
        boolean isText =
                element instanceof BitField bits
                        && bits.character()
                        && bits.bits() == 8
                        && bits.alignment() == 8;
        if (isText) {
            return new TextClass(StandardCharsets.UTF_8, 1, length);
        }
        return FieldClass.Array.of(element, length, 1);
    }

    private @Nullable FieldClass variant() throws MalformedInputException {
        tokens.take();
        String name = tokens.peek().kind() == Kind.WORD ? tokens.take().text() : null;
        FieldLocation selector = null;
        if (tokens.accept("<")) {
            selector = location(">");
            tokens.expect(">");
        }
        List<VariantOption> options = new ArrayList<>();
        if (tokens.peek().is("{")) {
            for (TsdlDeclaration declared : block()) {
                options.add(new VariantOption(declared.name, null, declared.type));
            }
            if (options.isEmpty()) {
                throw tokens.malformed("a variant without options");
            }
        } else {
            VariantClass known = name == null ? null : types.findVariant(name);
            if (known == null) {
                throw tokens.malformed("no variant " + name);
            }
            options = known.options();
        }
        FieldLocation known = selector == null ? nowhere() : selector;
        VariantClass type = new VariantClass(known, options);
        if (name != null) {
            types.defineVariant(name, type);
        }
        return selector == null ? null : type;
    }

    private static FieldLocation nowhere() {
        return new FieldLocation(new NearestStructure(), List.of());
    }

    /** A dotted path, up to the sign that ends it (CTF 1.8.3, section 7.3.2). */
    private FieldLocation location(String end) throws MalformedInputException {
        List<String> words = new ArrayList<>();
        words.add(tokens.word("a field's name"));
        while (tokens.accept(".") || tokens.accept("->")) {
            words.add(tokens.word("a field's name"));
        }
        if (!tokens.peek().is(end)) {
            throw tokens.unexpected("'" + end + "'");
        }
        String dotted = String.join(".", words) + ".";
        for (Prefix prefix : Prefix.values()) {
            if (dotted.startsWith(prefix.text)) {
                int used = prefix.text.split("\\.", -1).length - 1;
                return new FieldLocation(
                        new RootStructure(prefix.scope), bare(words.subList(used, words.size())));
            }
        }
        return new FieldLocation(new NearestStructure(), bare(words));
    }

    /** How TSDL names the roots. */
    private enum Prefix {
        TRACE_PACKET_HEADER("trace.packet.header.", RootScope.PACKET_HEADER),
        STREAM_PACKET_CONTEXT("stream.packet.context.", RootScope.PACKET_CONTEXT),
        STREAM_EVENT_HEADER("stream.event.header.", RootScope.EVENT_HEADER),
        STREAM_EVENT_CONTEXT("stream.event.context.", RootScope.EVENT_COMMON_CONTEXT),
        EVENT_CONTEXT("event.context.", RootScope.EVENT_SPECIFIC_CONTEXT),
        EVENT_FIELDS("event.fields.", RootScope.EVENT_PAYLOAD);

        private final String text;
        private final RootScope scope;

        Prefix(String text, RootScope scope) {
            this.text = text;
            this.scope = scope;
        }
    }

    private static List<@Nullable String> bare(List<String> words) {
        List<@Nullable String> names = new ArrayList<>();
        words.forEach(word -> names.add(bare(word)));
        return names;
    }

    /** TSDL puts an underscore before names that might be keywords. */
    static String bare(String name) {
        return name.startsWith("_") ? name.substring(1) : name;
    }

    private FieldClass enumeration() throws MalformedInputException {
        tokens.take();
        boolean hasName = tokens.peek().kind() == Kind.WORD;
        String name = hasName ? tokens.take().text() : null;
        FieldClass container = null;
        if (tokens.accept(":")) {
            container = specifier();
        }
        if (!tokens.peek().is("{")) {
            FieldClass known = name == null ? null : types.find("enum " + name);
            if (known == null) {
                throw tokens.malformed("no enum " + name);
            }
            return known;
        }
        if (container == null) {
            container = types.find("int");
        }
        if (!(container instanceof BitField bits)) {
            throw tokens.malformed("an enum whose type is not an integer");
        }
        FieldClass type =
                new BitField(
                        bits.bits(),
                        bits.alignment(),
                        bits.bigEndian(),
                        bits.reversed(),
                        bits.signed(),
                        BitMeaning.ENUMERATION,
                        bits.base(),
                        false,
                        enumerators(bits.signed()),
                        bits.roles(),
                        bits.clock());
        if (name != null && !types.define("enum " + name, type)) {
            throw tokens.malformed("a second enum " + name);
        }
        return type;
    }

    private List<LabelRanges> enumerators(boolean signed) throws MalformedInputException {
        tokens.expect("{");
        List<LabelRanges> mappings = new ArrayList<>();
        long next = 0;
        while (!tokens.accept("}")) {
            TsdlToken label = tokens.take();
            if (label.kind() != Kind.WORD && label.kind() != Kind.TEXT) {
                throw tokens.malformed(label, "an enumerator's name wanted");
            }
            long low = next;
            long high = next;
            if (tokens.accept("=")) {
                low = tokens.number("a value");
                high = tokens.accept("...") ? tokens.number("a value") : low;
            }
            boolean ordered = signed ? low <= high : Long.compareUnsigned(low, high) <= 0;
            if (!ordered) {
                throw tokens.malformed(
                        label, "the range of " + label.text() + " ends before it begins");
            }
            merge(mappings, label.text(), new ValueRange(low, high));
            next = high + 1;
            if (!tokens.accept(",") && !tokens.peek().is("}")) {
                throw tokens.unexpected("',' or '}'");
            }
        }
        return mappings;
    }

    /** A label may stand several times. */
    private static void merge(List<LabelRanges> mappings, String label, ValueRange range) {
        for (int i = 0; i < mappings.size(); i++) {
            if (mappings.get(i).label().equals(label)) {
                List<ValueRange> ranges = new ArrayList<>(mappings.get(i).ranges());
                ranges.add(range);
                mappings.set(i, new LabelRanges(label, ranges));
                return;
            }
        }
        mappings.add(new LabelRanges(label, List.of(range)));
    }

    long alignment(long value) throws MalformedInputException {
        if (Long.bitCount(value) != 1 || value < 0 || value > MOST_ALIGNMENT) {
            throw tokens.malformed("an alignment of " + value + " bits");
        }
        return value;
    }
}
