package sonde.lang.bpftrace.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;
import sonde.event.NearestNames;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral.RecordMember;
import sonde.lang.output.FormatException;
import sonde.lang.output.PrintFormat;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.CompositeType;
import sonde.lang.type.StructType;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/** What functions give, and what they take. */
final class CallTypes {
    private static final Set<String> PRINTING =
            Set.of("printf", "errorf", "warnf", "system", "cat", "debugf", "fail");

    /** Functions whose first argument is a number. */
    private static final Set<String> OF_NUMBERS =
            Set.of("ksym", "usym", "strerror", "signal_name", "syscall_name", "cgroup_path");

    private static final Set<String> OF_TEXTS =
            Set.of("strcontains", "strstr", "strlen", "strcap", "str_concat");

    private static final int MOST_FRAMES = 1024;
    private static final ValueType VOID = new VoidType();

    private final ClauseTyper typer;
    private final MachineCalls machine;

    CallTypes(ClauseTyper typer) {
        this.typer = typer;
        machine = new MachineCalls(typer);
    }

    private GlobalTypes globals() {
        return typer.globals();
    }

    @Nullable ValueType of(FunctionCall e) {
        CallArity signature = CallArity.of(e.function());
        if (signature == null) {
            return otherwise(e);
        }
        if (globals().environment().imported().containsKey(e.function())) {
            globals()
                    .warning(
                            e.span(),
                            e.function()
                                    + "() is the language's; the function in C of that name is not"
                                    + " seen",
                            "give it another name");
        }
        String fault = signature.fault(e.function(), e.arguments().size());
        if (fault != null) {
            return globals().error(e.span(), fault);
        }
        if (globals().environment().unsafe().contains(e.function())
                && !globals().environment().isUnsafeAllowed()) {
            return globals()
                    .error(
                            e.span(),
                            e.function() + "() is unsafe. To use you need the --unsafe flag");
        }
        if (signature.text()
                && !e.arguments().isEmpty()
                && !(e.arguments().getFirst() instanceof Expression.StringLiteral)) {
            return globals()
                    .error(
                            e.span(),
                            e.function() + "() expects a string literal as the first argument");
        }
        if (CallArity.AGGREGATES.contains(e.function())) {
            e.arguments().forEach(typer::type);
            return globals()
                    .error(e.span(), e.function() + "() must be assigned directly to a map");
        }
        return PRINTING.contains(e.function()) ? printing(e) : mapFunction(e);
    }

    /** What is not a function of the language. */
    private @Nullable ValueType otherwise(FunctionCall e) {
        Map<String, ImportedFunction> imported = globals().environment().imported();
        ImportedFunction function = imported.get(e.function());
        if (function != null) {
            return new ImportedCalls(typer).of(e, function);
        }
        e.arguments().forEach(typer::type);
        Optional<String> file = globals().environment().fileOfStatic(e.function());
        if (file.isPresent()) {
            return globals()
                    .error(
                            e.span(),
                            e.function() + "() is static in " + file.get(),
                            "a script calls what is not: leave out 'static' there");
        }
        Set<String> names = new TreeSet<>(CallArity.names());
        names.addAll(imported.keySet());
        return globals()
                .error(
                        e.span(),
                        "Unknown function: '" + e.function() + "'",
                        NearestNames.question(e.function(), names));
    }

    private @Nullable ValueType printing(FunctionCall e) {
        List<ValueType> types = new ArrayList<>();
        boolean known = true;
        for (Expression argument : e.arguments().subList(1, e.arguments().size())) {
            ValueType type = shown(argument);
            known &= type != null;
            types.add(type == null ? IntType.I64 : type);
        }
        if (known && globals().isReporting()) {
            String format = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
            try {
                String fault = PrintFormat.parse(format).check(types);
                if (fault == null
                        && e.function().equals("printf")
                        && typer.clause().site().isPinned()
                        && PrintFormat.inKernel(format).isEmpty()) {
                    fault =
                            "the kernel, which prints for a pinned iterator, knows %d, %u, %x,"
                                    + " %c, %s and %p, without precision";
                }
                if (fault != null) {
                    globals()
                            .error(
                                    e.span(),
                                    fault.startsWith(e.function())
                                            ? fault
                                            : e.function() + ": " + fault);
                }
            } catch (FormatException fault) {
                globals().error(e.span(), e.function() + ": " + fault.getMessage());
            }
            if (e.function().equals("fail") && !typer.isDead()) {
                globals().error(e.span(), failure(e));
            }
        }
        return VOID;
    }

    /** What {@code fail(format, …)} says, of values that are known. */
    private String failure(FunctionCall e) {
        String text = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
        for (Expression argument : e.arguments().subList(1, e.arguments().size())) {
            Object value = typer.comptimes().value(argument);
            String shown =
                    switch (value) {
                        case null -> argument.span().text();
                        case Boolean b -> b ? "1" : "0";
                        default -> value.toString();
                    };
            text = text.replaceFirst("%[-#0-9l]*[a-z]", Matcher.quoteReplacement(shown));
        }
        return text;
    }

    private @Nullable ValueType mapFunction(FunctionCall e) {
        List<Expression> arguments = e.arguments();
        Expression first = arguments.isEmpty() ? null : arguments.getFirst();
        switch (e.function()) {
            case "print" -> {
                return print(e);
            }
            case "clear", "zero" -> {
                if (first instanceof Expression.MapName m) {
                    MapSymbol map = globals().map(m.name());
                    if (e.function().equals("zero")) {
                        globals().isDefined(map, m.span());
                    }
                    return VOID;
                }
                return globals().error(e.span(), e.function() + "() expects a map to be provided");
            }
            case "len" -> {
                return length(e);
            }
            case "has_key", "delete", "find" -> {
                return keyed(e);
            }
            default -> {
                for (Expression argument : arguments) {
                    if (!isWord(e.function(), argument) && !e.function().equals("is_scalar")) {
                        typer.type(argument);
                    }
                }
                return plain(e);
            }
        }
    }

    private static boolean isWord(String function, Expression argument) {
        return argument instanceof BareName
                && Set.of("kstack", "ustack", "dw_ustack", "nsecs", "pid", "tid")
                        .contains(function);
    }

    /** The type of what is printed. */
    private @Nullable ValueType shown(Expression e) {
        ValueType type = typer.type(e);
        if (e instanceof BareName && type instanceof StructType struct) {
            members(e, struct);
        }
        return type;
    }

    /** An event's fields are printed one by one where texts lie behind them. */
    private void members(Expression arguments, StructType struct) {
        if (!typer.site().isArguments(struct)
                || struct.fields().stream().noneMatch(CallTypes::isDistant)) {
            return;
        }
        List<RecordMember> members = new ArrayList<>();
        for (TypeField field : struct.fields()) {
            boolean text = field.type() instanceof ArrayType a && a.element().sizeBytes() == 1;
            if (field.place() == FieldPlace.HERE || isDistant(field) && text) {
                Expression value = new MemberAccess(arguments.span(), arguments, field.name());
                members.add(new RecordMember(arguments.span(), field.name(), value));
            }
        }
        Expression record = new Expression.RecordLiteral(arguments.span(), members);
        typer.type(record);
        typer.clause().show(arguments, record);
    }

    private static boolean isDistant(TypeField field) {
        return field.place() == FieldPlace.DATA_LOC || field.place() == FieldPlace.RELATIVE_LOC;
    }

    private @Nullable ValueType print(FunctionCall e) {
        Expression first = e.arguments().getFirst();
        e.arguments().stream().skip(1).forEach(typer::type);
        if (first instanceof Expression.MapName m) {
            MapSymbol map = globals().map(m.name());
            globals().isDefined(map, m.span());
            if (typer.isInLoop()) {
                globals()
                        .warning(
                                e.span(),
                                "Due to it's asynchronous nature using 'print()' in a loop can"
                                        + " lead to unexpected behavior. The map will likely be"
                                        + " updated before the runtime can 'print' it.",
                                "");
            }
            return VOID;
        }
        ValueType type = shown(first);
        if (type == null) {
            return VOID;
        }
        if (e.arguments().size() > 1) {
            return globals()
                    .error(
                            e.span(),
                            "Non-map print() only takes 1 argument, "
                                    + e.arguments().size()
                                    + " found");
        }
        if (type instanceof VoidType) {
            return globals().error(e.span(), type + " type passed to print() is not printable");
        }
        if (type instanceof AggregateType && !TypePromotion.isNumber(type)) {
            return globals()
                    .error(
                            e.span(),
                            "Map type "
                                    + type
                                    + " cannot print the value of individual keys. You must print"
                                    + " the whole map.");
        }
        return VOID;
    }

    private @Nullable ValueType length(FunctionCall e) {
        Expression first = e.arguments().getFirst();
        if (first instanceof Expression.MapName m) {
            MapSymbol map = globals().map(m.name());
            if (Boolean.FALSE.equals(map.keyed)) {
                globals()
                        .error(
                                e.span(),
                                "call to len() expects a map with explicit keys (non-scalar map)");
            }
            if (!globals().isRead(map, e.span())) {
                return null;
            }
            return IntType.I64;
        }
        ValueType type = typer.type(first);
        if (type instanceof StackType stack && stack.copied()) {
            return globals()
                    .error(
                            first.span(),
                            "how many frames dw_ustack has is not known when the probe fires",
                            "len(ustack) counts them by frame pointers");
        }
        return type == null || type instanceof StackType
                ? IntType.I64
                : globals().error(e.span(), "call to len() expects a map, ustack, or kstack");
    }

    private @Nullable ValueType keyed(FunctionCall e) {
        List<Expression> arguments = e.arguments();
        if (arguments.size() == 1) {
            if (arguments.getFirst() instanceof Expression.MapElement element) {
                typer.type(element);
                return new BoolType();
            }
            if (arguments.getFirst() instanceof Expression.MapName m) {
                MapSymbol map = globals().map(m.name());
                if (Boolean.TRUE.equals(map.keyed)) {
                    globals()
                            .error(
                                    e.span(),
                                    "call to delete() with a single argument expects a map without"
                                            + " explicit keys (scalar map)");
                }
                return new BoolType();
            }
            return globals().error(e.span(), e.function() + "() expects a map to be provided");
        }
        if (!(arguments.getFirst() instanceof Expression.MapName m)) {
            return globals().error(e.span(), e.function() + "() expects a map to be provided");
        }
        MapSymbol map = globals().map(m.name());
        ValueType key = typer.type(arguments.get(1));
        if (Boolean.FALSE.equals(map.keyed)) {
            return globals()
                    .error(
                            e.span(),
                            "call to "
                                    + e.function()
                                    + (e.function().equals("delete")
                                            ? "() with two arguments"
                                            : "()")
                                    + " expects a map with explicit keys (non-scalar map)");
        }
        if (key != null) {
            globals().shape(map, true, e.span());
            globals().key(map, key, e.span());
        }
        if (!globals().isRead(map, e.span())) {
            return null;
        }
        if (e.function().equals("find") && map.value != null) {
            typer.assign(arguments.get(2), map.value, e.span());
        }
        return new BoolType();
    }

    /** What is wrong with the value that a function of addresses or numbers is given. */
    private String valueFault(FunctionCall e) {
        boolean isTime = e.function().equals("strftime");
        int number = isTime ? 1 : 0;
        if ((isTime || OF_NUMBERS.contains(e.function()))
                && !isNumber(typer.type(e.arguments().get(number)))) {
            return "expects an integer or pointer argument";
        }
        boolean internet = e.function().equals("ntop");
        return internet || e.function().equals("macaddr")
                ? addressFault(internet, e.arguments().getLast())
                : "";
    }

    private static boolean isNumber(@Nullable ValueType type) {
        return switch (type) {
            case IntType _, BoolType _, EnumType _, PointerType _, SpecialType _ -> true;
            case null -> true;
            default -> TypePromotion.isNumber(type);
        };
    }

    /** What is wrong with bytes that are to be an address; empty for nothing. */
    private String addressFault(boolean internet, Expression e) {
        ValueType type = typer.type(e);
        if (e instanceof Expression.StringLiteral) {
            return "does not support literal string arguments";
        }
        int size = type == null ? 0 : type.sizeBytes();
        boolean bytes = type instanceof ArrayType || type instanceof TextType;
        if (type instanceof TupleType
                || type instanceof BytesType
                || type instanceof AggregateType) {
            return "only supports array or pointer arguments (" + type + " provided)";
        }
        if (internet && type instanceof ArrayType && size != 4 && size != 16) {
            return "argument must be 4 or 16 bytes in size";
        }
        return !internet && bytes && size < 6 ? "argument must be at least 6 bytes in size" : "";
    }

    private @Nullable ValueType plain(FunctionCall e) {
        List<Expression> arguments = e.arguments();
        if (OF_TEXTS.contains(e.function())) {
            texts(e);
        }
        String fault = valueFault(e);
        if (!fault.isEmpty()) {
            return globals().error(e.span(), e.function() + "() " + fault);
        }
        return switch (e.function()) {
            case "exit",
                    "join",
                    "time",
                    "unwatch",
                    "assert",
                    "static_assert",
                    "override",
                    "signal",
                    "signal_thread",
                    "assert_str" ->
                    VOID;
            case "str" -> text(e);
            case "buf" -> bytes(e);
            case "ksym" -> new SpecialType(SpecialValue.KERNEL_SYMBOL);
            case "usym" -> new SpecialType(SpecialValue.USER_SYMBOL);
            case "ntop" -> new SpecialType(SpecialValue.INET);
            case "macaddr" -> new SpecialType(SpecialValue.MAC_ADDRESS);
            case "cgroup_path" -> new SpecialType(SpecialValue.CGROUP_PATH);
            case "strftime" -> new SpecialType(SpecialValue.TIMESTAMP);
            case "strerror" -> new SpecialType(SpecialValue.STRERROR);
            case "kaddr" -> machine.symbol(e);
            case "nsecs" -> clock(e);
            case "reg" -> machine.register(e);
            case "cgroupid" -> machine.controlGroup(e);
            case "socket_cookie" -> IntType.U64;
            case "uaddr" -> userAddress(e);
            case "percpu_kaddr" -> machine.perCpu(e);
            case "pid", "tid", "ppid", "leader_tid" -> IntType.U32;
            case "comm", "pcomm", "leader_comm" -> new TextType(16);
            case "strncmp", "memcmp", "strlen", "default_str_length" -> IntType.U64;
            case "strstr", "strcap" -> IntType.I64;
            case "strcontains", "is_err", "write_user" -> new BoolType();
            case "kfunc_exist",
                    "kfunc_allowed",
                    "is_integer",
                    "is_unsigned_integer",
                    "is_ptr",
                    "is_str",
                    "is_array",
                    "is_literal",
                    "is_scalar" -> {
                typer.clause().value(e, typer.comptimes().value(e));
                yield new BoolType();
            }
            case "str_concat" -> concatenated(arguments);
            case "signal_name", "syscall_name" -> new TextType(32);
            case "kstack", "ustack", "dw_ustack" -> stack(e);
            case "path" -> path(e);
            case "pton" -> address(e);
            case "bswap" -> swapped(e);
            // It is here only where options are given to a compiled file.
            case "getopt" ->
                    arguments.get(1) instanceof Expression.BooleanLiteral
                            ? new BoolType()
                            : IntType.I64;
            case "skboutput" -> packet(e);
            case "kptr" -> in(e, PointerSpace.KERNEL);
            case "uptr" -> in(e, PointerSpace.USER);
            default -> otherwise(e);
        };
    }

    /** Texts, arrays of characters and pointers to them. */
    private void texts(FunctionCall e) {
        for (Expression argument : e.arguments()) {
            ValueType type = typer.type(argument);
            boolean fits =
                    switch (type) {
                        case null -> true;
                        case TextType _, BytesType _ -> true;
                        case ArrayType a -> a.element().sizeBytes() == 1;
                        case PointerType p -> p.to().sizeBytes() <= 1;
                        default -> false;
                    };
            if (!fits) {
                globals()
                        .error(
                                argument.span(),
                                "string-like values must be either strings, arrays or pointers");
            }
        }
    }

    private @Nullable ValueType text(FunctionCall e) {
        int most = globals().environment().maxText();
        ValueType of = typer.type(e.arguments().getFirst());
        if (e.arguments().size() == 2) {
            Expression length = e.arguments().get(1);
            if (!isNumber(typer.type(length)) || length instanceof Expression.StringLiteral) {
                return globals()
                        .error(
                                length.span(),
                                "str() only supports integer arguments ("
                                        + typer.type(length)
                                        + " provided)");
            }
            if (length instanceof Expression.IntegerLiteral n) {
                if (n.value() + 1 > most) {
                    globals()
                            .warning(
                                    e.span(),
                                    "length param ("
                                            + n.value()
                                            + ") is too long and will be shortened to "
                                            + most
                                            + " bytes (see BPFTRACE_MAX_STRLEN)",
                                    "");
                } else {
                    most = (int) n.value() + 1;
                }
            }
        }
        if (of != null
                && !(of instanceof TextType)
                && !(of instanceof IntType)
                && !(of instanceof PointerType)
                && !(of instanceof ArrayType)) {
            return globals()
                    .error(
                            e.span(),
                            "str() expects a string, integer or a pointer type as first argument ("
                                    + of
                                    + " provided)");
        }
        return new TextType(most);
    }

    private @Nullable ValueType bytes(FunctionCall e) {
        int most = globals().environment().maxText() - 4;
        ValueType of = typer.type(e.arguments().getFirst());
        if (of == null) {
            return null;
        }
        if (!(of instanceof IntType)
                && !(of instanceof TextType)
                && !(of instanceof PointerType)
                && !(of instanceof ArrayType)) {
            return globals()
                    .error(
                            e.span(),
                            "buf() expects an integer, string, or array argument but saw "
                                    + ComptimeValues.family(of));
        }
        if (e.arguments().size() == 1) {
            return of instanceof ArrayType a
                    ? new BytesType(Math.min(most, a.sizeBytes()))
                    : globals()
                            .error(
                                    e.span(),
                                    "buf() expects a length argument for non-array type "
                                            + ComptimeValues.family(of));
        }
        return e.arguments().get(1) instanceof Expression.IntegerLiteral n
                ? new BytesType((int) Math.clamp(n.value(), 0L, most))
                : new BytesType(most);
    }

    private @Nullable ValueType clock(FunctionCall e) {
        if (e.arguments().isEmpty()
                || e.arguments().getFirst() instanceof BareName n
                        && Set.of("monotonic", "boot", "tai", "sw_tai").contains(n.name())) {
            return IntType.U64;
        }
        Expression mode = e.arguments().getFirst();
        return globals()
                .error(
                        mode.span(),
                        "Invalid timestamp mode: " + mode.span().text(),
                        "nsecs knows monotonic, boot, tai and sw_tai");
    }

    private @Nullable ValueType userAddress(FunctionCall e) {
        String name = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
        String path = typer.clause().site().target();
        long size = globals().environment().userSymbolBytes(path, name);
        if (size < 0 && globals().isReporting()) {
            return globals().error(e.span(), "Could not resolve symbol: " + path + ":" + name);
        }
        ValueType pointed =
                size == 1
                        ? IntType.U8
                        : size == 2 ? IntType.U16 : size == 4 ? IntType.U32 : IntType.U64;
        return new PointerType(pointed, PointerSpace.USER);
    }

    private @Nullable ValueType concatenated(List<Expression> arguments) {
        ValueType left = typer.type(arguments.get(0));
        ValueType right = typer.type(arguments.get(1));
        return left == null || right == null
                ? null
                : new TextType(left.sizeBytes() + right.sizeBytes() - 1);
    }

    private @Nullable ValueType stack(FunctionCall e) {
        boolean user = !e.function().equals("kstack");
        ValueType.StackMode mode = globals().environment().stackMode();
        int frames = 127;
        List<Expression> rest = e.arguments();
        if (!rest.isEmpty() && rest.getFirst() instanceof BareName n) {
            ValueType.StackMode named = mode(n.name());
            if (named == null) {
                return globals()
                        .error(
                                n.span(),
                                "Error parsing stack mode: Invalid value for stack_mode. Found: "
                                        + n.name()
                                        + ". Valid values: build_id, raw, perf, bpftrace.",
                                n.name().equals("dwarf")
                                        ? "dw_ustack() follows stacks without frame pointers"
                                        : "");
            }
            mode = named;
            rest = rest.subList(1, rest.size());
        } else if (rest.size() == 2) {
            return globals().error(e.span(), "Expected stack mode as first argument");
        }
        if (!rest.isEmpty()) {
            if (!(rest.getFirst() instanceof Expression.IntegerLiteral n)) {
                return globals().error(e.span(), e.function() + ": invalid limit value");
            }
            if (n.value() > MOST_FRAMES || n.value() < 0) {
                return globals()
                        .error(
                                e.span(),
                                "%s([int limit]): limit shouldn't exceed %d, %d given"
                                        .formatted(e.function(), MOST_FRAMES, n.value()));
            }
            frames = Math.max(1, (int) n.value());
        }
        if (mode == ValueType.StackMode.BUILD_ID && !user) {
            return globals().error(e.span(), "'build_id' stack mode can only be used for ustack");
        }
        return e.function().equals("dw_ustack")
                ? copied(e.span(), typer, mode, frames)
                : new StackType(user, mode, frames);
    }

    /** A stack that is followed when it is printed. */
    static @Nullable ValueType copied(
            SourceSpan span, ClauseTyper typer, ValueType.StackMode mode, int frames) {
        if (!typer.globals().environment().hasUnwindTarget()) {
            return typer.globals()
                    .error(
                            span,
                            "dw_ustack requires a target process",
                            "say which: -p PID, -c COMMAND, --dwarf-pid PID, --dwarf-pid all");
        }
        return mode == ValueType.StackMode.BUILD_ID
                ? typer.globals().error(span, "dw_ustack has no 'build_id' stack mode")
                : new StackType(true, mode, frames, true);
    }

    private static ValueType.@Nullable StackMode mode(String name) {
        return switch (name) {
            case "bpftrace" -> ValueType.StackMode.BPFTRACE;
            case "perf" -> ValueType.StackMode.PERF;
            case "raw" -> ValueType.StackMode.RAW;
            case "build_id" -> ValueType.StackMode.BUILD_ID;
            default -> null;
        };
    }

    private @Nullable ValueType path(FunctionCall e) {
        ValueType of = typer.type(e.arguments().getFirst());
        if (of != null && !(of instanceof PointerType) && !(of instanceof CompositeType)) {
            return globals()
                    .error(
                            e.span(),
                            "path() only supports pointer or C type argument ("
                                    + of
                                    + " provided)");
        }
        int most = globals().environment().maxText();
        return e.arguments().size() == 2
                        && e.arguments().get(1) instanceof Expression.IntegerLiteral n
                ? new TextType((int) Math.clamp(n.value(), 1L, most))
                : new TextType(most);
    }

    private @Nullable ValueType address(FunctionCall e) {
        String text = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
        byte[] address = InternetAddress.parse(text);
        if (address == null) {
            return globals()
                    .error(
                            e.span(),
                            text.contains(".") || text.contains(":")
                                    ? "pton() expects a valid IPv4/IPv6 address, got " + text
                                    : "pton() expects an string argument of an IPv4/IPv6 address,"
                                            + " got "
                                            + text);
        }
        return new ArrayType(IntType.U8, address.length);
    }

    private @Nullable ValueType swapped(FunctionCall e) {
        ValueType of = typer.type(e.arguments().getFirst());
        if (of == null) {
            return null;
        }
        return of instanceof IntType i
                ? new IntType(i.sizeBytes(), false)
                : globals()
                        .error(
                                e.span(),
                                "bswap() only supports integer arguments (" + of + " provided)");
    }

    /** {@code skboutput("file", skb, length, offset)}. */
    private @Nullable ValueType packet(FunctionCall e) {
        Kind kind = typer.site().kind();
        if (kind != Kind.FENTRY && kind != Kind.FEXIT && kind != Kind.RAWTRACEPOINT) {
            return globals()
                    .error(
                            e.span(),
                            "skboutput can not be used with \"" + kind.longName() + "\" probes",
                            "the kernel gives packets to fentry, fexit and rawtracepoint");
        }
        ValueType skb = typer.type(e.arguments().get(1));
        if (skb != null && !(skb instanceof PointerType)) {
            return globals()
                    .error(
                            e.arguments().get(1).span(),
                            "skboutput() expects a pointer to struct sk_buff ("
                                    + skb
                                    + " provided)");
        }
        ValueType length = typer.type(e.arguments().get(2));
        if (length != null && !(length instanceof IntType)) {
            return globals()
                    .error(
                            e.arguments().get(2).span(),
                            "skboutput() only supports integer lengths (" + length + " provided)");
        }
        return e.arguments().get(3) instanceof Expression.IntegerLiteral n
                        && n.value() >= 0
                        && n.value() <= Integer.MAX_VALUE
                ? IntType.I64
                : globals()
                        .error(
                                e.arguments().get(3).span(),
                                "skboutput() expects a number as the offset");
    }

    private @Nullable ValueType in(FunctionCall e, PointerSpace space) {
        ValueType of = typer.type(e.arguments().getFirst());
        return switch (of) {
            case PointerType p -> new PointerType(p.to(), space);
            case null -> null;
            case IntType _, ArrayType _, StructType _ -> of;
            default ->
                    globals()
                            .error(
                                    e.span(),
                                    e.function()
                                            + "() only supports integer or pointer arguments ("
                                            + of
                                            + " provided)");
        };
    }
}
