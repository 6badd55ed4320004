package sonde.probe.dynamic;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.ProgramOrigin;
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
import sonde.recording.ftrace.ProbeField;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.NumberType;

/** Makes the kernel's arguments of source expressions: name, how to find it, how to show it. */
final class ArgumentMaker {
    /** MAX_ARG_NAME_LEN of kernel/trace/trace_probe.h, with its NUL. */
    private static final int MOST_NAME = 32;

    /** reserved_field_names of kernel/trace/trace_probe.c. */
    private static final Set<String> RESERVED =
            Set.of(
                    "common_type",
                    "common_flags",
                    "common_preempt_count",
                    "common_pid",
                    "common_tgid",
                    "__probe_ip",
                    "__probe_ret_ip",
                    "__probe_func");

    private final ExpressionScope here;
    private final Set<String> names = new HashSet<>();

    ArgumentMaker(ExpressionScope here) {
        this.here = here;
    }

    /** The parts of {@code name=expression:type}, each but the expression empty for none. */
    record ArgumentParts(String name, String expression, String type) {
        static ArgumentParts of(String text) throws ProbeException {
            int equals = text.indexOf('=');
            String name = "";
            String rest = text;
            if (equals > 0 && text.substring(0, equals).matches("[A-Za-z_]\\w*")) {
                name = text.substring(0, equals);
                rest = text.substring(equals + 1);
            }
            int type = FetchType.start(rest);
            String expression = type < 0 ? rest : rest.substring(0, type - 1);
            if (expression.isBlank()) {
                throw ProbeException.at(text, name.length(), "an expression was expected here");
            }
            return new ArgumentParts(name, expression, type < 0 ? "" : rest.substring(type));
        }
    }

    ProbeArgument make(String text) throws ProbeException {
        ArgumentParts parts = ArgumentParts.of(text);
        ProbeExpression expression = ProbeExpressionParser.parse(parts.expression());
        ExpressionCompiler compiler = new ExpressionCompiler(parts.expression(), here);
        ProbeOperand operand = compiler.compile(expression);
        operand = referred(compiler, operand);
        String name = unique(parts.name().isEmpty() ? defaultName(expression) : parts.name());
        FetchRendering rendering = new FetchRendering(parts.expression(), compiler);
        String[] words =
                FetchType.isText(parts.type())
                        ? rendering.text(operand, parts.type())
                        : rendering.words(operand, parts.type());
        return new ProbeArgument(name, words[0], words[1], text, rendering.shown);
    }

    private static ProbeOperand referred(ExpressionCompiler compiler, ProbeOperand operand)
            throws ProbeException {
        return operand.type().plain() instanceof SourceType.Pointer pointer && pointer.isReference()
                ? new StoredOperand(
                        compiler.value(operand, 0), pointer.target().get(), 0, 0, pointer.isUser())
                : operand;
    }

    private static String defaultName(ProbeExpression expression) {
        return switch (expression) {
            case VariableName e -> e.name().substring(e.name().lastIndexOf(':') + 1);
            case SpecialName e -> e.name();
            case RegisterName e -> e.name();
            case MemberOf e -> e.name();
            case ElementAt e -> defaultName(e.of());
            case ProbeExpression.Dereference e -> defaultName(e.of());
            case ProbeExpression.AddressOf e -> defaultName(e.of());
            case PointerOffset e -> defaultName(e.of());
            case CastTo e -> defaultName(e.of());
            case ProbeExpression.ContainerOf e -> e.type().name();
            case NumberLiteral _, RawFetch _, ContainerItself _ -> "arg";
        };
    }

    private String unique(String wanted) {
        String base = wanted.length() >= MOST_NAME ? wanted.substring(0, MOST_NAME - 4) : wanted;
        String name = base;
        for (int i = 1; RESERVED.contains(name) || !names.add(name); i++) {
            name = base + "_" + i;
        }
        return name;
    }

    /** How an operand is fetched: words and type. */
    private final class FetchRendering {
        private final String source;
        private final ExpressionCompiler compiler;
        private String shown = "";

        FetchRendering(String source, ExpressionCompiler compiler) {
            this.source = source;
            this.compiler = compiler;
        }

        private ProbeException fault(String message) {
            return new ProbeException("'" + source + "' " + message);
        }

        String[] text(ProbeOperand operand, String type) throws ProbeException {
            boolean array = operand.type().plain() instanceof SourceType.Array;
            boolean pointer = operand.type().plain() instanceof SourceType.Pointer;
            FetchArgument address;
            boolean user;
            if (operand instanceof KernelOperand words) {
                return new String[] {words.text(), type};
            }
            if (operand instanceof StoredOperand o && !pointer) {
                address = o.address();
                user = o.isUser();
                if (!array && o.type().plain() instanceof NumberType) {
                    throw fault("is a number, not a text");
                }
            } else {
                address = compiler.value(operand, 0);
                user = operand.type().plain() instanceof SourceType.Pointer p && p.isUser();
            }
            String shown = user && here.isKernel() ? "u" + type.replaceFirst("^u", "") : type;
            return new String[] {address.memory(here.statics(), false), shown};
        }

        String[] words(ProbeOperand operand, String asked) throws ProbeException {
            if (operand instanceof KernelOperand o) {
                return new String[] {o.text(), asked};
            }
            SourceType type = operand.type();
            if (asked.isEmpty() || asked.length() == 1) {
                if (type.plain() instanceof SourceType.Structure structure) {
                    throw fault(isWhole(type, structure));
                }
                if (type.plain() instanceof SourceType.Array array) {
                    return array(operand, array, asked);
                }
                if (type.sizeBytes() > 8) {
                    throw fault("has " + type.sizeBytes() + " bytes, more than a probe can show");
                }
            }
            String fetched = asked.isEmpty() ? FetchType.of(type) : FetchType.sized(asked, type);
            if (FetchType.isReal(type, asked)) {
                shown = type.sizeBytes() == 4 ? "float" : "double";
            }
            return switch (operand) {
                case StoredOperand o when o.bits() > 0 -> bits(o, asked);
                case StoredOperand o ->
                        new String[] {o.address().memory(here.statics(), o.isUser()), fetched};
                case HeldOperand o when o.isWhole() -> new String[] {o.token(), fetched};
                case HeldOperand o -> {
                    int count = o.bits() > 0 ? o.bits() : (int) (8 * type.sizeBytes());
                    refuseType(asked, count, "is a part of a register");
                    signed(type, asked, count);
                    yield new String[] {
                        o.token(), "b" + count + "@" + o.bitOffset() + "/" + 8 * here.addressBytes()
                    };
                }
                case SplitOperand o -> {
                    ProbeOperand one = PlacedParts.one(o);
                    if (one == null) {
                        throw fault("is spread over several registers");
                    }
                    yield words(one, asked);
                }
                case CalculatedOperand o -> new String[] {number(o.value(), fetched), fetched};
                case KernelOperand o -> new String[] {o.text(), asked};
            };
        }

        /** The words for a number; of a sum those for what the constant is added to. */
        private String number(FetchArgument value, String fetched) throws ProbeException {
            String whole = value.number(here.statics());
            if (!whole.isEmpty()) {
                return whole;
            }
            if (value.origin() instanceof ProgramOrigin) {
                throw fault("is an address that is known only where the program runs");
            }
            if (!fetched.matches("[sux](8|16|32|64)") || !shown.isEmpty()) {
                throw fault("is a sum, which a probe records as a number only");
            }
            int bits = Integer.parseInt(fetched.substring(1));
            shown = ProbeField.type(fetched.startsWith("s"), bits, value.offset());
            return new FetchArgument(value.origin(), 0).number(here.statics());
        }

        private String isWhole(SourceType type, SourceType.Structure structure) {
            List<String> members =
                    structure.members().get().stream()
                            .map(SourceType.Member::name)
                            .filter(name -> !name.isEmpty())
                            .limit(8)
                            .toList();
            return "is a whole "
                    + type.spelling()
                    + (members.isEmpty() ? "" : "; choose a member: " + String.join(", ", members));
        }

        private String[] array(ProbeOperand operand, SourceType.Array array, String asked)
                throws ProbeException {
            SourceType element = array.element();
            if (!(operand instanceof StoredOperand o)) {
                throw fault("is an array that is not in memory here; choose an element");
            }
            boolean text =
                    asked.isEmpty()
                            && element.plain() instanceof NumberType number
                            && number.kind() == SourceType.Kind.CHARACTER
                            && number.sizeBytes() == 1;
            if (text) {
                return text(operand, "string");
            }
            boolean scalar =
                    !(element.plain() instanceof SourceType.Structure)
                            && !(element.plain() instanceof SourceType.Array)
                            && element.sizeBytes() > 0
                            && element.sizeBytes() <= 8;
            if (!scalar || array.count() <= 0) {
                throw fault(
                        "is "
                                + operand.type().spelling()
                                + "; choose an element: "
                                + source
                                + "[0]");
            }
            if (array.count() > FetchType.MOST_ELEMENTS) {
                throw fault(
                        "has "
                                + array.count()
                                + " elements, the kernel takes "
                                + FetchType.MOST_ELEMENTS
                                + "; choose one, or the first: "
                                + source
                                + ":"
                                + FetchType.of(element)
                                + "["
                                + FetchType.MOST_ELEMENTS
                                + "]");
            }
            String one = asked.isEmpty() ? FetchType.of(element) : FetchType.sized(asked, element);
            return new String[] {
                o.address().memory(here.statics(), o.isUser()), one + "[" + array.count() + "]"
            };
        }

        /** The kernel cuts bits out of a word (parse_probe_arg of kernel/trace/trace_probe.c). */
        private void refuseType(String asked, long bits, String what) throws ProbeException {
            if (!asked.matches("|[su]|[su]" + bits)) {
                throw fault(
                        what
                                + ", which the kernel shows as a decimal number;"
                                + " leave :"
                                + asked
                                + " away");
            }
        }

        /** The kernel's bits have no sign: the reader of the recording gives it back. */
        private void signed(SourceType type, String asked, int bits) {
            boolean wanted =
                    asked.isEmpty() ? FetchType.of(type).startsWith("s") : asked.startsWith("s");
            if (wanted) {
                shown = ProbeField.type(true, bits, 0);
            }
        }

        /** A bit-field: the smallest word of the kernel's that holds it at its own alignment. */
        private String[] bits(StoredOperand o, String asked) throws ProbeException {
            if (asked.length() <= 1 || asked.startsWith("s")) {
                refuseType(asked, o.bits(), "is a bit-field");
                signed(o.type(), asked, o.bits());
            }
            for (int word = 8; word <= 64; word *= 2) {
                long start = o.bitOffset() / word * word;
                long into = o.bitOffset() - start;
                if (into + o.bits() <= word) {
                    String type = "b" + o.bits() + "@" + into + "/" + word;
                    FetchArgument address = o.address().plus(start / 8);
                    String read = address.memory(here.statics(), o.isUser());
                    return new String[] {
                        read, asked.length() > 1 && !asked.startsWith("s") ? asked : type
                    };
                }
            }
            throw fault("is a bit-field that crosses a word");
        }
    }
}
