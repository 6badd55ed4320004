package sonde.lang.declare;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.lang.bpftrace.syntax.TypeSyntax.Kind;
import sonde.lang.declare.CDeclaredType.AlignedType;
import sonde.lang.declare.CDeclaredType.CRecordType;
import sonde.lang.declare.CDeclaredType.CompleteType;
import sonde.lang.declare.CDeclaredType.DefinedRecord;
import sonde.lang.declare.CDeclaredType.PlacedMember;
import sonde.lang.declare.CDeclaredType.TaggedType;
import sonde.lang.declare.CExpression.CValue;
import sonde.lang.declare.CParser.CDeclared;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;

/** Definitions of structures, unions and enumerations (C17, 6.7.2.1 and 6.7.2.2). */
final class CRecords {
    private final CParser parser;
    private final CScope scope;
    private final CCursor cursor;

    CRecords(CParser parser, CScope scope, CCursor cursor) {
        this.parser = parser;
        this.scope = scope;
        this.cursor = cursor;
    }

    /** A member before it has its place; {@code bits} -1 for none. */
    private record UnplacedMember(
            CToken place, String name, CDeclaredType type, int bits, boolean packed, int aligned) {}

    /** {@code struct name}, with or without its body. */
    CDeclaredType record() throws CSyntaxException {
        parser.enter();
        boolean union = cursor.take().is("union");
        Kind kind = union ? Kind.UNION : Kind.STRUCT;
        CAttributes attributes = new CAttributes();
        parser.attributes(attributes);
        CToken place = cursor.token();
        String name = place.kind() == CToken.Kind.WORD ? cursor.take().text() : "";
        parser.attributes(attributes);
        CDeclaredType type = new TaggedType(kind, name);
        if (cursor.is("{")) {
            cursor.take();
            CRecordType record = new CRecordType(name, union);
            type = new DefinedRecord(record);
            define(place, kind, name, type);
            List<UnplacedMember> parts = parts();
            cursor.expect("}");
            parser.attributes(attributes);
            layOut(place, record, parts, attributes);
        } else if (name.isEmpty()) {
            throw cursor.fail("expected '{' but found " + cursor.token().shown());
        }
        parser.leave();
        return type;
    }

    private void define(CToken place, Kind kind, String name, CDeclaredType type)
            throws CSyntaxException {
        if (name.isEmpty()) {
            return;
        }
        if (!place.header() && scope.isOwn(kind, name)) {
            throw new CSyntaxException(place, "redefinition of '" + name + "'");
        }
        scope.defineTag(kind, name, type, !place.header());
    }

    private List<UnplacedMember> parts() throws CSyntaxException {
        List<UnplacedMember> parts = new ArrayList<>();
        while (!cursor.is("}") && !cursor.isEnd()) {
            if (cursor.accept(";")) {
                continue;
            }
            if (cursor.is("_Static_assert")) {
                cursor.skipDeclaration();
                continue;
            }
            members(parts);
            // The last semicolon may be missing.
            if (!cursor.is("}")) {
                cursor.expect(";");
            }
        }
        return parts;
    }

    private void members(List<UnplacedMember> parts) throws CSyntaxException {
        CAttributes before = new CAttributes();
        while (parser.skipIgnored(before)) {
            // Attributes may stand first.
        }
        CToken first = cursor.token();
        CDeclaredType base = parser.specifiers(before);
        if (cursor.is(";") || cursor.is("}")) {
            // Without a name: its members are the outer one's, unless it only defines a tag.
            if (base instanceof DefinedRecord defined && defined.record().name.isEmpty()) {
                parts.add(
                        new UnplacedMember(first, "", base, -1, before.packed(), before.aligned()));
            }
            return;
        }
        do {
            CDeclared declared = parser.declarator(base);
            CAttributes attributes = declared.attributes();
            CDeclaredType type = declared.type();
            int bits = -1;
            if (cursor.accept(":")) {
                bits = width(type);
            }
            parser.attributes(attributes);
            attributes.add(before);
            type = attributes.moded(type);
            parts.add(
                    new UnplacedMember(
                            declared.place(),
                            declared.name(),
                            type,
                            bits,
                            attributes.packed(),
                            attributes.aligned()));
        } while (cursor.accept(","));
    }

    private int width(CDeclaredType type) throws CSyntaxException {
        CToken place = cursor.token();
        long bits = CExpression.read(cursor, parser).bits();
        long most = 8 * scope.sizeBytes(type);
        boolean number =
                switch (scope.type(type)) {
                    case IntType _, BoolType _, EnumType _ -> true;
                    case ValueType _ -> false;
                };
        if (!number || bits < 0 || bits > most || most > 64) {
            throw new CSyntaxException(place, "no bitfield has this width");
        }
        return (int) bits;
    }

    private void layOut(
            CToken place, CRecordType record, List<UnplacedMember> parts, CAttributes attributes)
            throws CSyntaxException {
        RecordLayout layout = new RecordLayout(record.union, attributes.packed());
        List<PlacedMember> members = new ArrayList<>(parts.size());
        Set<String> names = new HashSet<>();
        for (UnplacedMember part : parts) {
            if (!part.name().isEmpty() && !names.add(part.name())) {
                throw new CSyntaxException(part.place(), "duplicate member '" + part.name() + "'");
            }
            long size = scope.sizeBytes(part.type());
            if (size < 0) {
                throw new CSyntaxException(part.place(), incomplete(part.type()));
            }
            int align = scope.align(part.type());
            long offset;
            if (part.bits() == 0) {
                layout.close(align, part.aligned());
                continue;
            } else if (part.bits() > 0) {
                boolean named = !part.name().isEmpty();
                offset =
                        layout.placeBits(
                                (int) size,
                                align,
                                part.bits(),
                                named,
                                part.packed(),
                                part.aligned());
                if (!named) {
                    continue;
                }
            } else {
                offset = layout.place(size, align, part.packed(), part.aligned());
            }
            if (layout.isTooLarge()) {
                throw new CSyntaxException(part.place(), "this structure is too large");
            }
            members.add(
                    new PlacedMember(part.name(), part.type(), offset, Math.max(0, part.bits())));
        }
        record.align = layout.align(attributes.aligned());
        record.sizeBytes = layout.sizeBytes(attributes.aligned());
        record.members = members;
        if (record.sizeBytes > Integer.MAX_VALUE) {
            throw new CSyntaxException(place, "this structure is too large");
        }
    }

    private static String incomplete(CDeclaredType type) {
        CDeclaredType at = type;
        while (at instanceof CDeclaredType.Array array) {
            at = array.element();
        }
        return switch (at) {
            case TaggedType tagged ->
                    "field has incomplete type '%s %s'"
                            .formatted(
                                    tagged.kind().name().toLowerCase(java.util.Locale.ROOT),
                                    tagged.name());
            case DefinedRecord defined ->
                    "field has incomplete type '%s %s'"
                            .formatted(
                                    defined.record().union ? "union" : "struct",
                                    defined.record().name);
            case CDeclaredType.Function _ -> "a function is not a member";
            case CompleteType _, CDeclaredType.Pointer _, CDeclaredType.Array _, AlignedType _ ->
                    "this member is too large";
        };
    }

    /** {@code enum name}, with or without its constants. */
    CDeclaredType enumeration() throws CSyntaxException {
        cursor.take();
        CAttributes attributes = new CAttributes();
        parser.attributes(attributes);
        CToken place = cursor.token();
        String name = place.kind() == CToken.Kind.WORD ? cursor.take().text() : "";
        if (!cursor.is("{")) {
            if (name.isEmpty()) {
                throw cursor.fail("expected '{' but found " + cursor.token().shown());
            }
            return new TaggedType(Kind.ENUM, name);
        }
        cursor.take();
        return constants(place, name, attributes);
    }

    private CDeclaredType constants(CToken place, String name, CAttributes attributes)
            throws CSyntaxException {
        List<String> constants = new ArrayList<>();
        Map<Long, String> names = new LinkedHashMap<>();
        long next = 0;
        boolean negative = false;
        while (!cursor.is("}") && !cursor.isEnd()) {
            CToken constant = cursor.take();
            if (constant.kind() != CToken.Kind.WORD) {
                throw new CSyntaxException(
                        constant, "expected a name but found " + constant.shown());
            }
            parser.attributes(new CAttributes());
            boolean unsigned = next < 0 && !negative;
            if (cursor.accept("=")) {
                CValue value = CExpression.read(cursor, parser);
                next = value.bits();
                unsigned = value.unsigned();
            }
            negative |= next < 0 && !unsigned;
            scope.defineEnumerator(constant.text(), next);
            constants.add(constant.text());
            names.putIfAbsent(next, constant.text());
            next++;
            if (!cursor.accept(",")) {
                break;
            }
        }
        cursor.expect("}");
        parser.attributes(attributes);
        int least = smallest(names, negative);
        int size = attributes.packed() ? least : Math.max(4, least);
        size = attributes.modeBytes() == 0 ? size : Math.min(8, attributes.modeBytes());
        EnumType type = new EnumType(name, size, negative, Map.copyOf(names));
        CDeclaredType made = CompleteType.of(type);
        if (!name.isEmpty()) {
            define(place, Kind.ENUM, name, made);
        }
        constants.forEach(constant -> scope.enumeratorOf(constant, type));
        return made;
    }

    /** Bytes that hold all values. */
    private static int smallest(Map<Long, String> names, boolean signed) {
        int size = 1;
        for (long value : names.keySet()) {
            while (size < 8 && (signed ? isCut(value, size) : value >>> 8 * size != 0)) {
                size *= 2;
            }
        }
        return size;
    }

    private static boolean isCut(long value, int sizeBytes) {
        int shift = 64 - 8 * sizeBytes;
        return value << shift >> shift != value;
    }
}
