package sonde.probe.dynamic;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.event.NearestNames;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.MemoryOrigin;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.TokenOrigin;
import sonde.probe.dynamic.ProbeExpression.CastTo;
import sonde.probe.dynamic.ProbeExpression.ContainerItself;
import sonde.probe.dynamic.ProbeExpression.ElementAt;
import sonde.probe.dynamic.ProbeExpression.MemberOf;
import sonde.probe.dynamic.ProbeExpression.NumberLiteral;
import sonde.probe.dynamic.ProbeExpression.PointerOffset;
import sonde.probe.dynamic.ProbeExpression.RawFetch;
import sonde.probe.dynamic.ProbeExpression.RegisterName;
import sonde.probe.dynamic.ProbeExpression.SpecialName;
import sonde.probe.dynamic.ProbeExpression.VariableName;
import sonde.probe.dynamic.ProbeOperand.CalculatedOperand;
import sonde.probe.dynamic.ProbeOperand.HeldOperand;
import sonde.probe.dynamic.ProbeOperand.KernelOperand;
import sonde.probe.dynamic.ProbeOperand.SplitOperand;
import sonde.probe.dynamic.ProbeOperand.StoredOperand;
import sonde.symbol.ctype.BasicNumbers;
import sonde.symbol.ctype.NamedTypes.NameSpace;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.NumberType;

/** Turns expressions into operands: every step is typed, and said in words when it cannot be. */
final class ExpressionCompiler {
    private static final int MOST_DEPTH = 16;

    private final String text;
    private final ExpressionScope here;

    ExpressionCompiler(String text, ExpressionScope here) {
        this.text = text;
        this.here = here;
    }

    private ProbeException fault(int at, String message) {
        return ProbeException.at(text, at, message);
    }

    ProbeOperand compile(ProbeExpression expression) throws ProbeException {
        return switch (expression) {
            case VariableName e -> here.variable(text, e.at(), e.name());
            case SpecialName e -> here.special(text, e.at(), e.name());
            case RegisterName e ->
                    new HeldOperand(here.words(text, e.at(), "%" + e.name()), word(), 0, 0);
            case NumberLiteral e ->
                    new CalculatedOperand(FetchArgument.constant(e.value()), number("long", true));
            case RawFetch e -> new KernelOperand(here.words(text, e.at(), e.text()), word());
            case MemberOf e -> member(e);
            case ElementAt e -> index(e);
            case ProbeExpression.Dereference e -> target(compile(e.of()), e.at(), 0);
            case ProbeExpression.AddressOf e -> addressOf(e);
            case PointerOffset e -> plus(e);
            case CastTo e -> cast(compile(e.of()), type(e.type()), e.at());
            case ProbeExpression.ContainerOf e -> containerOf(e);
            case ContainerItself e -> throw fault(e.at(), "this was not expected here");
        };
    }

    private SourceType word() {
        return new NumberType(
                "unsigned long", here.addressBytes(), SourceType.Kind.UNSIGNED, false);
    }

    private SourceType number(String name, boolean signed) {
        return new NumberType(name, here.addressBytes(), SourceType.Kind.SIGNED, signed);
    }

    private ProbeOperand member(MemberOf e) throws ProbeException {
        ProbeOperand of = referred(compile(e.of()), e.at());
        SourceType type = of.type();
        if (type.plain() instanceof SourceType.Pointer && !e.isArrow()) {
            throw fault(e.at(), "this is a pointer (" + type.spelling() + "): write ->" + e.name());
        }
        if (!(type.plain() instanceof SourceType.Pointer)
                && !(type.plain() instanceof SourceType.Array)
                && e.isArrow()) {
            throw fault(
                    e.at(), "this is not a pointer (" + type.spelling() + "): write ." + e.name());
        }
        ProbeOperand whole = e.isArrow() ? target(of, e.at(), 0) : of;
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
    private ProbeOperand referred(ProbeOperand operand, int at) throws ProbeException {
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
                + NearestNames.suggestion(name, names, "it has ");
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

    private ProbeOperand part(ProbeOperand whole, SourceType.Member member, int at)
            throws ProbeException {
        SourceType type = member.type().get();
        long bit = member.bitOffset();
        if (bit == SourceType.Member.NOWHERE) {
            throw fault(
                    at,
                    "this member is in a virtual base class, and its offset is known only at run"
                            + " time");
        }
        int bits = member.bits();
        return switch (whole) {
            case StoredOperand o when bits == 0 ->
                    new StoredOperand(o.address().plus(bit / 8), type, 0, 0, o.isUser());
            case StoredOperand o -> new StoredOperand(o.address(), type, bit, bits, o.isUser());
            case HeldOperand o -> new HeldOperand(o.token(), type, o.bitOffset() + bit, bits);
            case SplitOperand o -> new SplitOperand(o.parts(), type, o.bitOffset() + bit, bits);
            case CalculatedOperand _, KernelOperand _ ->
                    throw fault(at, "a calculated value has no members");
        };
    }

    private ProbeOperand index(ElementAt e) throws ProbeException {
        ProbeOperand of = referred(compile(e.of()), e.at());
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

    /** The size of so many elements, whose bits can be counted, too. */
    private long bytes(int at, long count, long sizeBytes) throws ProbeException {
        try {
            return Math.multiplyExact(count, Math.multiplyExact(8, sizeBytes)) / 8;
        } catch (ArithmeticException e) {
            throw fault(at, "no array is as long as " + count);
        }
    }

    /** What a pointer, or an array as a pointer, points to. */
    private ProbeOperand target(ProbeOperand of, int at, long index) throws ProbeException {
        if (of.type().plain() instanceof SourceType.Array array && of instanceof StoredOperand o) {
            SourceType element = array.element();
            return new StoredOperand(
                    o.address().plus(bytes(at, index, element.sizeBytes())),
                    element,
                    0,
                    0,
                    o.isUser());
        }
        if (!(of.type().plain() instanceof SourceType.Pointer pointer)) {
            throw fault(at, of.type().spelling() + " is not a pointer");
        }
        SourceType target = pointer.target().get();
        long bytes = bytes(at, index, Math.max(1, target.sizeBytes()));
        boolean user = pointer.isUser() || of instanceof StoredOperand o && o.isUser();
        return new StoredOperand(value(of, at).plus(bytes), target, 0, 0, user);
    }

    /** The number in an operand, to be used as an address. */
    FetchArgument value(ProbeOperand operand, int at) throws ProbeException {
        if (operand.type().sizeBytes() != 0 && operand.type().sizeBytes() < 8) {
            throw fault(
                    at,
                    "a pointer of "
                            + operand.type().sizeBytes()
                            + " bytes cannot be followed: the kernel reads 8");
        }
        return switch (operand) {
            case StoredOperand o when o.bits() == 0 -> o.address().loaded(o.isUser());
            case HeldOperand o when o.isWhole() -> FetchArgument.token(o.token());
            case CalculatedOperand o -> o.value();
            case SplitOperand o -> {
                ProbeOperand one = PlacedParts.one(o);
                if (one == null) {
                    throw fault(at, "this pointer is in several places");
                }
                yield value(one, at);
            }
            case KernelOperand o ->
                    new FetchArgument(
                            o.text().startsWith("%") || o.text().startsWith("$")
                                    ? new TokenOrigin(o.text())
                                    : new MemoryOrigin(o.text()),
                            0);
            case StoredOperand _, HeldOperand _ ->
                    throw fault(at, "a part of a word is not an address");
        };
    }

    private ProbeOperand addressOf(ProbeExpression.AddressOf e) throws ProbeException {
        ProbeOperand of = referred(compile(e.of()), e.at());
        if (of instanceof StoredOperand o && o.bits() == 0) {
            return new CalculatedOperand(o.address(), pointerTo(o.type(), o.isUser()));
        }
        throw fault(e.at(), "this is not in memory here, so it has no address");
    }

    private SourceType pointerTo(SourceType type, boolean user) {
        return SourceType.Pointer.to(type, here.addressBytes(), user);
    }

    private ProbeOperand plus(PointerOffset e) throws ProbeException {
        ProbeOperand of = referred(compile(e.of()), e.at());
        SourceType type = of.type();
        if (type.plain() instanceof SourceType.Array array && of instanceof StoredOperand o) {
            SourceType element = array.element();
            FetchArgument moved = o.address().plus(bytes(e.at(), e.amount(), element.sizeBytes()));
            return new CalculatedOperand(moved, pointerTo(element, o.isUser()));
        }
        long unit =
                type.plain() instanceof SourceType.Pointer pointer
                        ? Math.max(1, pointer.target().get().sizeBytes())
                        : 1;
        FetchArgument start =
                type.plain() instanceof NumberType && of instanceof HeldOperand o && o.isWhole()
                        ? FetchArgument.token(o.token())
                        : value(of, e.at());
        return new CalculatedOperand(start.plus(bytes(e.at(), e.amount(), unit)), type);
    }

    private SourceType type(ProbeExpression.TypeWords words) throws ProbeException {
        SourceType found = named(words);
        for (int i = 0; i < words.stars(); i++) {
            found = pointerTo(found, false);
        }
        return found;
    }

    private SourceType named(ProbeExpression.TypeWords words) throws ProbeException {
        if (words.space() == NameSpace.PLAIN) {
            SourceType basic =
                    BasicNumbers.of(List.of(words.name().split(" ", -1)), here.addressBytes());
            if (basic != null) {
                return basic;
            }
        }
        String word =
                words.space() == NameSpace.PLAIN
                        ? ""
                        : words.space().name().toLowerCase(java.util.Locale.ROOT) + " ";
        Optional<SourceType> found = here.types().find(words.space(), words.name());
        boolean isPlain = words.space() == NameSpace.PLAIN;
        return found.or(() -> isPlain ? ofAnyKind(words.name()) : Optional.empty())
                .orElseThrow(() -> fault(words.at(), "there is no type " + word + words.name()));
    }

    /** C++ names its classes without a word before them. */
    private Optional<SourceType> ofAnyKind(String name) {
        return here.types().find(NameSpace.ANY, name);
    }

    private ProbeOperand cast(ProbeOperand of, SourceType type, int at) throws ProbeException {
        if (of.type().plain() instanceof SourceType.Array
                && type.plain() instanceof SourceType.Pointer) {
            if (of instanceof StoredOperand o) {
                return new CalculatedOperand(o.address(), type);
            }
            throw fault(at, "this array is not in memory");
        }
        return switch (of) {
            case StoredOperand o ->
                    new StoredOperand(o.address(), type, o.bitOffset(), o.bits(), o.isUser());
            case HeldOperand o -> new HeldOperand(o.token(), type, o.bitOffset(), o.bits());
            case SplitOperand o -> new SplitOperand(o.parts(), type, o.bitOffset(), o.bits());
            case CalculatedOperand o -> {
                if (type.sizeBytes() > o.type().sizeBytes() && o.value().offset() != 0) {
                    throw fault(at, "a sum of " + o.type().spelling() + " has no more bytes");
                }
                yield new CalculatedOperand(o.value(), type);
            }
            case KernelOperand o -> new KernelOperand(o.text(), type);
        };
    }

    private ProbeOperand containerOf(ProbeExpression.ContainerOf e) throws ProbeException {
        ProbeOperand of = compile(e.of());
        SourceType whole = type(e.type());
        StoredOperand nowhere = new StoredOperand(FetchArgument.constant(0), whole, 0, 0, false);
        ProbeOperand part = path(e.path(), nowhere);
        if (!(part instanceof StoredOperand member) || member.bits() > 0) {
            throw fault(e.path().at(), "this is not a member with an address");
        }
        if (!(of.type().plain() instanceof SourceType.Pointer pointer)) {
            throw fault(e.of().at(), "this is not a pointer (" + of.type().spelling() + ")");
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
        FetchArgument base = value(of, e.of().at()).plus(-member.address().offset());
        return new CalculatedOperand(base, pointerTo(whole, pointer.isUser()));
    }

    private static String plain(SourceType type) {
        return type.spelling().replaceAll("\\b(const|volatile|class|struct) ", "");
    }

    private ProbeOperand path(ProbeExpression path, ProbeOperand whole) throws ProbeException {
        return switch (path) {
            case ContainerItself _ -> whole;
            case MemberOf e when !e.isArrow() -> {
                ProbeOperand of = path(e.of(), whole);
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
            case ElementAt e -> {
                ProbeOperand of = path(e.of(), whole);
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
