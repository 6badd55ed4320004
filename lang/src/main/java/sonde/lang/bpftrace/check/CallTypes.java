package sonde.lang.bpftrace.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;
import sonde.event.Nearest;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.output.FormatException;
import sonde.lang.output.PrintFormat;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.source.Span;
import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;
import sonde.lang.type.Type.Special;

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
    private static final Type VOID = new Type.Void();

    private final Typer typer;

    CallTypes(Typer typer) {
        this.typer = typer;
    }

    private Globals globals() {
        return typer.globals();
    }

    @Nullable Type of(Expression.Call e) {
        Signature signature = Signature.of(e.function());
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
        if (Signature.AGGREGATES.contains(e.function())) {
            e.arguments().forEach(typer::type);
            return globals()
                    .error(e.span(), e.function() + "() must be assigned directly to a map");
        }
        return PRINTING.contains(e.function()) ? printing(e) : mapFunction(e);
    }

    /** What is no function of the language. */
    private @Nullable Type otherwise(Expression.Call e) {
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
        Set<String> names = new TreeSet<>(Signature.names());
        names.addAll(imported.keySet());
        return globals()
                .error(
                        e.span(),
                        "Unknown function: '" + e.function() + "'",
                        Nearest.question(e.function(), names));
    }

    private @Nullable Type printing(Expression.Call e) {
        List<Type> types = new ArrayList<>();
        boolean known = true;
        for (Expression argument : e.arguments().subList(1, e.arguments().size())) {
            Type type = shown(argument);
            known &= type != null;
            types.add(type == null ? Int.I64 : type);
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
    private String failure(Expression.Call e) {
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

    private @Nullable Type mapFunction(Expression.Call e) {
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
        return argument instanceof Expression.Name
                && Set.of("kstack", "ustack", "dw_ustack", "nsecs", "pid", "tid")
                        .contains(function);
    }

    /** The type of what is printed. */
    private @Nullable Type shown(Expression e) {
        Type type = typer.type(e);
        if (e instanceof Expression.Name && type instanceof Struct struct) {
            members(e, struct);
        }
        return type;
    }

    /** An event's fields are printed one by one where texts lie behind them. */
    private void members(Expression arguments, Struct struct) {
        if (!typer.site().isArguments(struct)
                || struct.fields().stream().noneMatch(CallTypes::isDistant)) {
            return;
        }
        List<Expression.RecordLiteral.Member> members = new ArrayList<>();
        for (Field field : struct.fields()) {
            boolean text = field.type() instanceof Type.Array a && a.element().sizeBytes() == 1;
            if (field.place() == Field.Place.HERE || isDistant(field) && text) {
                Expression value = new Expression.Field(arguments.span(), arguments, field.name());
                members.add(
                        new Expression.RecordLiteral.Member(arguments.span(), field.name(), value));
            }
        }
        Expression record = new Expression.RecordLiteral(arguments.span(), members);
        typer.type(record);
        typer.clause().show(arguments, record);
    }

    private static boolean isDistant(Field field) {
        return field.place() == Field.Place.DATA_LOC || field.place() == Field.Place.RELATIVE_LOC;
    }

    private @Nullable Type print(Expression.Call e) {
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
        Type type = shown(first);
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
        if (type instanceof Type.Void) {
            return globals().error(e.span(), type + " type passed to print() is not printable");
        }
        if (type instanceof Type.Aggregate && !Promotion.isNumber(type)) {
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

    private @Nullable Type length(Expression.Call e) {
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
            return Int.I64;
        }
        Type type = typer.type(first);
        if (type instanceof Type.Stack stack && stack.copied()) {
            return globals()
                    .error(
                            first.span(),
                            "how many frames dw_ustack has is not known when the probe fires",
                            "len(ustack) counts them by frame pointers");
        }
        return type == null || type instanceof Type.Stack
                ? Int.I64
                : globals().error(e.span(), "call to len() expects a map, ustack, or kstack");
    }

    private @Nullable Type keyed(Expression.Call e) {
        List<Expression> arguments = e.arguments();
        if (arguments.size() == 1) {
            if (arguments.getFirst() instanceof Expression.MapElement element) {
                typer.type(element);
                return new Type.Bool();
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
                return new Type.Bool();
            }
            return globals().error(e.span(), e.function() + "() expects a map to be provided");
        }
        if (!(arguments.getFirst() instanceof Expression.MapName m)) {
            return globals().error(e.span(), e.function() + "() expects a map to be provided");
        }
        MapSymbol map = globals().map(m.name());
        Type key = typer.type(arguments.get(1));
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
        return new Type.Bool();
    }

    /** What is wrong with the value that a function of addresses or numbers is given. */
    private String valueFault(Expression.Call e) {
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

    private static boolean isNumber(@Nullable Type type) {
        return switch (type) {
            case Int _, Type.Bool _, Type.Enum _, Type.Pointer _, Type.Named _ -> true;
            case null -> true;
            default -> Promotion.isNumber(type);
        };
    }

    /** What is wrong with bytes that are to be an address; empty for nothing. */
    private String addressFault(boolean internet, Expression e) {
        Type type = typer.type(e);
        if (e instanceof Expression.StringLiteral) {
            return "does not support literal string arguments";
        }
        int size = type == null ? 0 : type.sizeBytes();
        boolean bytes = type instanceof Type.Array || type instanceof Type.Text;
        if (type instanceof Tuple || type instanceof Type.Bytes || type instanceof Type.Aggregate) {
            return "only supports array or pointer arguments (" + type + " provided)";
        }
        if (internet && type instanceof Type.Array && size != 4 && size != 16) {
            return "argument must be 4 or 16 bytes in size";
        }
        return !internet && bytes && size < 6 ? "argument must be at least 6 bytes in size" : "";
    }

    private @Nullable Type plain(Expression.Call e) {
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
            case "ksym" -> new Type.Named(Special.KERNEL_SYMBOL);
            case "usym" -> new Type.Named(Special.USER_SYMBOL);
            case "ntop" -> new Type.Named(Special.INET);
            case "macaddr" -> new Type.Named(Special.MAC_ADDRESS);
            case "cgroup_path" -> new Type.Named(Special.CGROUP_PATH);
            case "strftime" -> new Type.Named(Special.TIMESTAMP);
            case "strerror" -> new Type.Named(Special.STRERROR);
            case "kaddr" -> kernelAddress(e);
            case "nsecs" -> clock(e);
            case "reg", "cgroupid", "socket_cookie" -> Int.U64;
            case "uaddr" -> userAddress(e);
            case "percpu_kaddr" -> perCpu(e);
            case "pid", "tid" -> Int.U32;
            case "ppid", "leader_tid" -> Int.U32;
            case "comm", "pcomm", "leader_comm" -> new Type.Text(16);
            case "strncmp", "memcmp", "strlen" -> Int.U64;
            case "strstr", "strcap" -> Int.I64;
            case "default_str_length" -> Int.U64;
            case "strcontains", "is_err", "write_user" -> new Type.Bool();
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
                yield new Type.Bool();
            }
            case "str_concat" -> concatenated(arguments);
            case "signal_name", "syscall_name" -> new Type.Text(32);
            case "kstack", "ustack", "dw_ustack" -> stack(e);
            case "path" -> path(e);
            case "pton" -> address(e);
            case "bswap" -> swapped(e);
            // It is here only where options are given to a compiled file.
            case "getopt" ->
                    arguments.get(1) instanceof Expression.BooleanLiteral
                            ? new Type.Bool()
                            : Int.I64;
            case "skboutput" -> packet(e);
            case "kptr" -> in(e, Space.KERNEL);
            case "uptr" -> in(e, Space.USER);
            default -> otherwise(e);
        };
    }

    /** Texts, arrays of characters and pointers to them. */
    private void texts(Expression.Call e) {
        for (Expression argument : e.arguments()) {
            Type type = typer.type(argument);
            boolean fits =
                    switch (type) {
                        case null -> true;
                        case Type.Text _, Type.Bytes _ -> true;
                        case Type.Array a -> a.element().sizeBytes() == 1;
                        case Type.Pointer p -> p.to().sizeBytes() <= 1;
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

    private @Nullable Type text(Expression.Call e) {
        int most = globals().environment().maxText();
        Type of = typer.type(e.arguments().getFirst());
        if (e.arguments().size() == 2) {
            Expression length = e.arguments().get(1);
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
                && !(of instanceof Type.Text)
                && !(of instanceof Int)
                && !(of instanceof Type.Pointer)
                && !(of instanceof Type.Array)) {
            return globals()
                    .error(
                            e.span(),
                            "str() expects a string, integer or a pointer type as first argument ("
                                    + of
                                    + " provided)");
        }
        return new Type.Text(most);
    }

    private @Nullable Type bytes(Expression.Call e) {
        int most = globals().environment().maxText() - 4;
        Type of = typer.type(e.arguments().getFirst());
        if (of == null) {
            return null;
        }
        if (!(of instanceof Int)
                && !(of instanceof Type.Text)
                && !(of instanceof Type.Pointer)
                && !(of instanceof Type.Array)) {
            return globals()
                    .error(
                            e.span(),
                            "buf() expects an integer, string, or array argument but saw "
                                    + Comptimes.family(of));
        }
        if (e.arguments().size() == 1) {
            return of instanceof Type.Array a
                    ? new Type.Bytes(Math.min(most, a.sizeBytes()))
                    : globals()
                            .error(
                                    e.span(),
                                    "buf() expects a length argument for non-array type "
                                            + Comptimes.family(of));
        }
        return e.arguments().get(1) instanceof Expression.IntegerLiteral n
                ? new Type.Bytes((int) Math.clamp(n.value(), 0L, most))
                : new Type.Bytes(most);
    }

    private @Nullable Type clock(Expression.Call e) {
        if (e.arguments().isEmpty()
                || e.arguments().getFirst() instanceof Expression.Name n
                        && Set.of("monotonic", "boot", "tai", "sw_tai").contains(n.name())) {
            return Int.U64;
        }
        Expression mode = e.arguments().getFirst();
        return globals()
                .error(
                        mode.span(),
                        "Invalid timestamp mode: " + mode.span().text(),
                        "nsecs knows monotonic, boot, tai and sw_tai");
    }

    private @Nullable Type kernelAddress(Expression.Call e) {
        String name = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
        return globals().isReporting() && !globals().environment().hasKernelSymbol(name)
                ? globals().error(e.span(), "Failed to resolve kernel symbol: " + name)
                : Int.U64;
    }

    private @Nullable Type userAddress(Expression.Call e) {
        String name = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
        String path = typer.clause().site().target();
        long size = globals().environment().userSymbolBytes(path, name);
        if (size < 0 && globals().isReporting()) {
            return globals().error(e.span(), "Could not resolve symbol: " + path + ":" + name);
        }
        Type pointed = size == 1 ? Int.U8 : size == 2 ? Int.U16 : size == 4 ? Int.U32 : Int.U64;
        return new Type.Pointer(pointed, Space.USER);
    }

    private @Nullable Type perCpu(Expression.Call e) {
        String name = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
        return name.isEmpty()
                ? globals().error(e.span(), "Could not resolve variable \"" + name + "\" from BTF")
                : Int.U64;
    }

    private @Nullable Type concatenated(List<Expression> arguments) {
        Type left = typer.type(arguments.get(0));
        Type right = typer.type(arguments.get(1));
        return left == null || right == null
                ? null
                : new Type.Text(left.sizeBytes() + right.sizeBytes() - 1);
    }

    private @Nullable Type stack(Expression.Call e) {
        boolean user = !e.function().equals("kstack");
        Type.StackMode mode = globals().environment().stackMode();
        int frames = 127;
        List<Expression> rest = e.arguments();
        if (!rest.isEmpty() && rest.getFirst() instanceof Expression.Name n) {
            Type.StackMode named = mode(n.name());
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
        if (mode == Type.StackMode.BUILD_ID && !user) {
            return globals().error(e.span(), "'build_id' stack mode can only be used for ustack");
        }
        return e.function().equals("dw_ustack")
                ? copied(e.span(), typer, mode, frames)
                : new Type.Stack(user, mode, frames);
    }

    /** A stack that is followed when it is printed. */
    static @Nullable Type copied(Span span, Typer typer, Type.StackMode mode, int frames) {
        if (!typer.globals().environment().hasUnwindTarget()) {
            return typer.globals()
                    .error(
                            span,
                            "dw_ustack requires a target process",
                            "say which: -p PID, -c COMMAND, --dwarf-pid PID, --dwarf-pid all");
        }
        return mode == Type.StackMode.BUILD_ID
                ? typer.globals().error(span, "dw_ustack has no 'build_id' stack mode")
                : new Type.Stack(true, mode, frames, true);
    }

    private static Type.@Nullable StackMode mode(String name) {
        return switch (name) {
            case "bpftrace" -> Type.StackMode.BPFTRACE;
            case "perf" -> Type.StackMode.PERF;
            case "raw" -> Type.StackMode.RAW;
            case "build_id" -> Type.StackMode.BUILD_ID;
            default -> null;
        };
    }

    private @Nullable Type path(Expression.Call e) {
        Type of = typer.type(e.arguments().getFirst());
        if (of != null && !(of instanceof Type.Pointer) && !(of instanceof Composite)) {
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
                ? new Type.Text((int) Math.clamp(n.value(), 1L, most))
                : new Type.Text(most);
    }

    private @Nullable Type address(Expression.Call e) {
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
        return new Type.Array(Int.U8, address.length);
    }

    private @Nullable Type swapped(Expression.Call e) {
        Type of = typer.type(e.arguments().getFirst());
        if (of == null) {
            return null;
        }
        return of instanceof Int i
                ? new Int(i.sizeBytes(), false)
                : globals()
                        .error(
                                e.span(),
                                "bswap() only supports integer arguments (" + of + " provided)");
    }

    /** {@code skboutput("file", skb, length, offset)}. */
    private @Nullable Type packet(Expression.Call e) {
        Kind kind = typer.site().kind();
        if (kind != Kind.FENTRY && kind != Kind.FEXIT && kind != Kind.RAWTRACEPOINT) {
            return globals()
                    .error(
                            e.span(),
                            "skboutput can not be used with \"" + kind.longName() + "\" probes",
                            "the kernel gives packets to fentry, fexit and rawtracepoint");
        }
        Type skb = typer.type(e.arguments().get(1));
        if (skb != null && !(skb instanceof Type.Pointer)) {
            return globals()
                    .error(
                            e.arguments().get(1).span(),
                            "skboutput() expects a pointer to struct sk_buff ("
                                    + skb
                                    + " provided)");
        }
        Type length = typer.type(e.arguments().get(2));
        if (length != null && !(length instanceof Int)) {
            return globals()
                    .error(
                            e.arguments().get(2).span(),
                            "skboutput() only supports integer lengths (" + length + " provided)");
        }
        return e.arguments().get(3) instanceof Expression.IntegerLiteral n
                        && n.value() >= 0
                        && n.value() <= Integer.MAX_VALUE
                ? Int.I64
                : globals()
                        .error(
                                e.arguments().get(3).span(),
                                "skboutput() expects a number as the offset");
    }

    private @Nullable Type in(Expression.Call e, Space space) {
        Type of = typer.type(e.arguments().getFirst());
        return switch (of) {
            case Type.Pointer p -> new Type.Pointer(p.to(), space);
            case null -> null;
            case Int _, Type.Array _, Struct _ -> of;
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
