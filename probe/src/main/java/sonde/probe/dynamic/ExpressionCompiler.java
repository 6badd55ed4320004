package sonde.probe.dynamic;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.event.Nearest;
import sonde.symbol.ctype.BasicNumbers;
import sonde.symbol.ctype.NamedTypes;
import sonde.symbol.ctype.SourceType;

/** Turns expressions into operands: every step is typed, and said in words when it cannot be. */
final class ExpressionCompiler {
    private static final int MOST_DEPTH = 16;

    private final String text;
    private final Surroundings here;

    ExpressionCompiler(String text, Surroundings here) {
        this.text = text;
        this.here = here;
    }

    private ProbeException fault(int at, String message) {
        return ProbeException.at(text, at, message);
    }

    Operand compile(ProbeExpression expression) throws ProbeException {
        return switch (expression) {
            case ProbeExpression.Name e -> here.variable(text, e.at(), e.name());
            case ProbeExpression.Special e -> here.special(text, e.at(), e.name());
            case ProbeExpression.Register e ->
                    new Operand.Held(here.words(text, e.at(), "%" + e.name()), word(), 0, 0);
            case ProbeExpression.Literal e ->
                    new Operand.Plain(Fetch.constant(e.value()), number("long", true));
            case ProbeExpression.Raw e ->
                    new Operand.Words(here.words(text, e.at(), e.text()), word());
            case ProbeExpression.Member e -> member(e);
            case ProbeExpression.Index e -> index(e);
            case ProbeExpression.Dereference e -> target(compile(e.of()), e.at(), 0);
            case ProbeExpression.AddressOf e -> addressOf(e);
            case ProbeExpression.Plus e -> plus(e);
            case ProbeExpression.Cast e -> cast(compile(e.of()), type(e.type()), e.at());
            case ProbeExpression.ContainerOf e -> containerOf(e);
            case ProbeExpression.Whole e -> throw fault(e.at(), "this was not expected here");
        };
    }

    private SourceType word() {
        return new SourceType.Number(
                "unsigned long", here.addressBytes(), SourceType.Kind.UNSIGNED, false);
    }

    private SourceType number(String name, boolean signed) {
        return new SourceType.Number(name, here.addressBytes(), SourceType.Kind.SIGNED, signed);
    }

    private Operand member(ProbeExpression.Member e) throws ProbeException {
        Operand of = referred(compile(e.of()), e.at());
        SourceType type = of.type();
        if (type.plain() instanceof SourceType.Pointer && !e.isArrow()) {
            throw fault(e.at(), "this is a pointer (" + type.spelling() + "): write ->" + e.name());
        }
        if (!(type.plain() instanceof SourceType.Pointer)
                && !(type.plain() instanceof SourceType.Array)
                && e.isArrow()) {
            throw fault(e.at(), "this is no pointer (" + type.spelling() + "): write ." + e.name());
        }
        Operand whole = e.isArrow() ? target(of, e.at(), 0) : of;
        if (!(whole.type().plain() instanceof SourceType.Structure structure)) {
            throw fault(e.at(), whole.type().spelling() + " has no members");
        }
        SourceType.Member found = find(structure, e.name(), 0);
        if (found == null) {
            throw fault(e.at(), missing(whole.type(), structure, e.name()));
        }
        return part(whole, found, e.at());
    }

    /** What a reference refers to; other operands as they are. */
    private Operand referred(Operand operand, int at) throws ProbeException {
        return operand.type().plain() instanceof SourceType.Pointer pointer && pointer.isReference()
                ? target(operand, at, 0)
                : operand;
    }

    private static String missing(SourceType type, SourceType.Structure structure, String name) {
        List<String> names = new ArrayList<>();
        names(structure, names, 0);
        if (names.isEmpty()) {
            return "nothing is known of " + type.spelling() + " here";
        }
        return type.spelling()
                + " has no member '"
                + name
                + "'"
                + Nearest.suggestion(name, names, "it has ");
    }

    private static void names(SourceType.Structure structure, List<String> names, int depth) {
        for (SourceType.Member member : structure.members().get()) {
            if (!member.name().isEmpty()) {
                names.add(member.name());
            } else if (member.type().get().plain() instanceof SourceType.Structure inner
                    && depth < MOST_DEPTH) {
                names(inner, names, depth + 1);
            }
        }
    }

    /** A member, also of structures without a name, at its place in the whole. */
    static SourceType.@org.jspecify.annotations.Nullable Member find(
            SourceType.Structure structure, String name, int depth) {
        for (SourceType.Member member : structure.members().get()) {
            if (member.name().equals(name)) {
                return member;
            }
        }
        for (SourceType.Member member : structure.members().get()) {
            if (member.name().isEmpty()
                    && depth < MOST_DEPTH
                    && member.type().get().plain() instanceof SourceType.Structure inner) {
                SourceType.Member found = find(inner, name, depth + 1);
                if (found != null) {
                    return found.within(member);
                }
            }
        }
        return null;
    }

    private Operand part(Operand whole, SourceType.Member member, int at) throws ProbeException {
        SourceType type = member.type().get();
        long bit = member.bitOffset();
        if (bit == SourceType.Member.NOWHERE) {
            throw fault(at, "this lies in a virtual base class, whose place only the object tells");
        }
        int bits = member.bits();
        return switch (whole) {
            case Operand.Stored o when bits == 0 ->
                    new Operand.Stored(o.address().plus(bit / 8), type, 0, 0, o.isUser());
            case Operand.Stored o -> new Operand.Stored(o.address(), type, bit, bits, o.isUser());
            case Operand.Held o -> new Operand.Held(o.token(), type, o.bitOffset() + bit, bits);
            case Operand.Split o -> new Operand.Split(o.parts(), type, o.bitOffset() + bit, bits);
            case Operand.Plain _, Operand.Words _ ->
                    throw fault(at, "a calculated value has no members");
        };
    }

    private Operand index(ProbeExpression.Index e) throws ProbeException {
        Operand of = referred(compile(e.of()), e.at());
        if (of.type().plain() instanceof SourceType.Array array) {
            if (array.count() > 0 && (e.index() < 0 || e.index() >= array.count())) {
                throw fault(e.at(), of.type().spelling() + " has " + array.count() + " elements");
            }
            SourceType element = array.element();
            long bytes = bytes(e.at(), e.index(), element.sizeBytes());
            return part(of, new SourceType.Member("", () -> element, 8 * bytes, 0), e.at());
        }
        if (of.type().plain() instanceof SourceType.Pointer) {
            return target(of, e.at(), e.index());
        }
        throw fault(e.at(), of.type().spelling() + " has no elements");
    }

    /** Of so many elements; their bits, by which members are told, can be counted too. */
    private long bytes(int at, long count, long sizeBytes) throws ProbeException {
        try {
            return Math.multiplyExact(count, Math.multiplyExact(8, sizeBytes)) / 8;
        } catch (ArithmeticException e) {
            throw fault(at, "no array is as long as " + count);
        }
    }

    /** What a pointer, or an array as a pointer, points to. */
    private Operand target(Operand of, int at, long index) throws ProbeException {
        if (of.type().plain() instanceof SourceType.Array array && of instanceof Operand.Stored o) {
            SourceType element = array.element();
            return new Operand.Stored(
                    o.address().plus(bytes(at, index, element.sizeBytes())),
                    element,
                    0,
                    0,
                    o.isUser());
        }
        if (!(of.type().plain() instanceof SourceType.Pointer pointer)) {
            throw fault(at, of.type().spelling() + " is no pointer");
        }
        SourceType target = pointer.target().get();
        long bytes = bytes(at, index, Math.max(1, target.sizeBytes()));
        boolean user = pointer.isUser() || of instanceof Operand.Stored o && o.isUser();
        return new Operand.Stored(value(of, at).plus(bytes), target, 0, 0, user);
    }

    /** The number in an operand, to be used as an address. */
    Fetch value(Operand operand, int at) throws ProbeException {
        if (operand.type().sizeBytes() != 0 && operand.type().sizeBytes() < 8) {
            throw fault(
                    at,
                    "a pointer of "
                            + operand.type().sizeBytes()
                            + " bytes cannot be followed: the kernel reads 8");
        }
        return switch (operand) {
            case Operand.Stored o when o.bits() == 0 -> o.address().loaded(o.isUser());
            case Operand.Held o when o.bitOffset() == 0 && o.bits() == 0 -> Fetch.token(o.token());
            case Operand.Plain o -> o.value();
            case Operand.Split o -> {
                Operand one = PlacedParts.one(o);
                if (one == null) {
                    throw fault(at, "this pointer is in several places");
                }
                yield value(one, at);
            }
            case Operand.Words o ->
                    new Fetch(
                            o.text().startsWith("%") || o.text().startsWith("$")
                                    ? new Fetch.Origin.Token(o.text())
                                    : new Fetch.Origin.Memory(o.text()),
                            0);
            case Operand.Stored _, Operand.Held _ ->
                    throw fault(at, "a part of a word is no address");
        };
    }

    private Operand addressOf(ProbeExpression.AddressOf e) throws ProbeException {
        Operand of = referred(compile(e.of()), e.at());
        if (of instanceof Operand.Stored o && o.bits() == 0) {
            return new Operand.Plain(o.address(), pointerTo(o.type(), o.isUser()));
        }
        throw fault(e.at(), "this is not in memory here, so it has no address");
    }

    private SourceType pointerTo(SourceType type, boolean user) {
        return SourceType.Pointer.to(type, here.addressBytes(), user);
    }

    private Operand plus(ProbeExpression.Plus e) throws ProbeException {
        Operand of = referred(compile(e.of()), e.at());
        SourceType type = of.type();
        if (type.plain() instanceof SourceType.Array array && of instanceof Operand.Stored o) {
            SourceType element = array.element();
            Fetch moved = o.address().plus(bytes(e.at(), e.amount(), element.sizeBytes()));
            return new Operand.Plain(moved, pointerTo(element, o.isUser()));
        }
        long unit =
                type.plain() instanceof SourceType.Pointer pointer
                        ? Math.max(1, pointer.target().get().sizeBytes())
                        : 1;
        return new Operand.Plain(value(of, e.at()).plus(bytes(e.at(), e.amount(), unit)), type);
    }

    private SourceType type(ProbeExpression.TypeWords words) throws ProbeException {
        SourceType found = named(words);
        for (int i = 0; i < words.stars(); i++) {
            found = pointerTo(found, false);
        }
        return found;
    }

    private SourceType named(ProbeExpression.TypeWords words) throws ProbeException {
        if (words.space() == NamedTypes.Space.PLAIN) {
            SourceType basic =
                    BasicNumbers.of(List.of(words.name().split(" ", -1)), here.addressBytes());
            if (basic != null) {
                return basic;
            }
        }
        String word =
                words.space() == NamedTypes.Space.PLAIN
                        ? ""
                        : words.space().name().toLowerCase(java.util.Locale.ROOT) + " ";
        Optional<SourceType> found = here.types().find(words.space(), words.name());
        boolean isPlain = words.space() == NamedTypes.Space.PLAIN;
        return found.or(() -> isPlain ? ofAnyKind(words.name()) : Optional.empty())
                .orElseThrow(() -> fault(words.at(), "there is no type " + word + words.name()));
    }

    /** C++ names its classes without a word before them. */
    private Optional<SourceType> ofAnyKind(String name) {
        return here.types().find(NamedTypes.Space.ANY, name);
    }

    private Operand cast(Operand of, SourceType type, int at) throws ProbeException {
        if (of.type().plain() instanceof SourceType.Array
                && type.plain() instanceof SourceType.Pointer) {
            if (of instanceof Operand.Stored o) {
                return new Operand.Plain(o.address(), type);
            }
            throw fault(at, "this array is not in memory");
        }
        return switch (of) {
            case Operand.Stored o ->
                    new Operand.Stored(o.address(), type, o.bitOffset(), o.bits(), o.isUser());
            case Operand.Held o -> new Operand.Held(o.token(), type, o.bitOffset(), o.bits());
            case Operand.Split o -> new Operand.Split(o.parts(), type, o.bitOffset(), o.bits());
            case Operand.Plain o -> new Operand.Plain(o.value(), type);
            case Operand.Words o -> new Operand.Words(o.text(), type);
        };
    }

    private Operand containerOf(ProbeExpression.ContainerOf e) throws ProbeException {
        Operand of = compile(e.of());
        SourceType whole = type(e.type());
        Operand.Stored nowhere = new Operand.Stored(Fetch.constant(0), whole, 0, 0, false);
        Operand part = path(e.path(), nowhere);
        if (!(part instanceof Operand.Stored member) || member.bits() > 0) {
            throw fault(e.path().at(), "this is no member with an address");
        }
        if (!(of.type().plain() instanceof SourceType.Pointer pointer)) {
            throw fault(e.of().at(), "this is no pointer (" + of.type().spelling() + ")");
        }
        SourceType target = pointer.target().get();
        boolean same =
                target.plain() instanceof SourceType.Opaque
                        || target.sizeBytes() == 1
                        || plain(target).equals(plain(member.type()));
        if (!same) {
            throw fault(
                    e.of().at(),
                    "this points to "
                            + target.spelling()
                            + ", the member is "
                            + member.type().spelling());
        }
        Fetch base = value(of, e.of().at()).plus(-member.address().offset());
        return new Operand.Plain(base, pointerTo(whole, pointer.isUser()));
    }

    private static String plain(SourceType type) {
        return type.spelling().replaceAll("\\b(const|volatile|class|struct) ", "");
    }

    private Operand path(ProbeExpression path, Operand whole) throws ProbeException {
        return switch (path) {
            case ProbeExpression.Whole _ -> whole;
            case ProbeExpression.Member e when !e.isArrow() -> {
                Operand of = path(e.of(), whole);
                SourceType.Member found =
                        of.type().plain() instanceof SourceType.Structure structure
                                ? find(structure, e.name(), 0)
                                : null;
                if (found == null) {
                    throw fault(
                            e.at(),
                            of.type().plain() instanceof SourceType.Structure structure
                                    ? missing(of.type(), structure, e.name())
                                    : of.type().spelling() + " has no members");
                }
                yield part(of, found, e.at());
            }
            case ProbeExpression.Index e -> {
                Operand of = path(e.of(), whole);
                if (!(of.type().plain() instanceof SourceType.Array array)) {
                    throw fault(e.at(), of.type().spelling() + " has no elements");
                }
                SourceType element = array.element();
                long bits = 8 * bytes(e.at(), e.index(), element.sizeBytes());
                yield part(of, new SourceType.Member("", () -> element, bits, 0), e.at());
            }
            default -> throw fault(path.at(), "the path of a member was expected here");
        };
    }
}
