package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.analysis.stack.CallTreeBuilder;
import sonde.event.result.Frame;

/**
 * Finds the program's own functions in call chains: not those of the kernel, of the C library, of
 * an interpreter or of a language's run time.
 */
public final class ProgramFrames {
    /** Of base libraries and interpreters; an interpreter's own code is never the program's. */
    private static final Pattern RUNTIME_MODULE =
            Pattern.compile(
                    "(ld|libc|libpthread|libm|librt|libdl|libgcc_s"
                            + "|libstdc\\+\\+|libc\\+\\+(abi)?"
                            + "|libresolv|libnss_.*|libjvm|libjava|libnio|libnet|libjli|libzip"
                            + "|libpython.*|libnode|libuv|libruby.*|libperl|libgomp|libtbb)"
                            + "([-.][-\\w.]*)?\\.so[.\\d]*|ld-linux.*|ld-musl.*|\\[vdso\\]"
                            + "|(python|perl|ruby|php|lua|node|nodejs|java|pypy)[-\\d.]*"
                            + "|dash|bash|busybox");

    private static final Pattern RUNTIME_FUNCTION =
            Pattern.compile(
                    "_start|__libc_.*|_dl_.*|__clone.*|clone3?|start_thread|\\[stack cut\\]"
                            // C++, Rust
                            + "|(\\w+ )*(std|__gnu_cxx|core|alloc|__cxxabiv1)::.*"
                            + "|<?&?(mut |dyn )*(std|core|alloc)::.*|operator (new|delete).*"
                            // Go
                            + "|(runtime|syscall|sync|time|os|net|io|bufio|fmt|reflect|poll)\\..*"
                            + "|(runtime|internal|sync|crypto|encoding|net|vendor)/.*"
                            // JVM, V8
                            + "|(\\S+ )?(java|javax|jdk|sun|com\\.sun)\\..*|L(java|javax|jdk|sun)/.*"
                            + "|Interpreter.*|call_stub|_\\w+_Java"
                            + "|StubRoutines.*|.*(call|vtable|Runtime|blob|Blob|Stub) ?stub.*"
                            + "|(Builtin|BytecodeHandler|Stub|Builtins|RegExp|LoadIC|StoreIC).*"
                            + "|JS:[*~^+]* ?(node:internal|internal/).*|JS:.* (node:|internal/).*");

    /** libstdc++, libgcc, HotSpot, V8, Rust, CPython: what runs when an exception is thrown. */
    private static final Pattern THROWING =
            Pattern.compile(
                    "__cxa_(throw|rethrow|begin_catch|allocate_exception)|_Unwind_(Raise|Resume).*"
                            + "|(\\S+ )?java\\.lang\\.Throwable\\.(fillInStackTrace|<init>).*"
                            + "|java_lang_Throwable::.*|JVM_FillInStackTrace|Exceptions::_throw.*"
                            + "|.*::exception_handler_for_\\w+.*|OptoRuntime::(rethrow|handle_ex).*"
                            + "|v8::internal::(Isolate::(Throw|Capture\\w*StackTrace)|ErrorUtils).*"
                            + "|(std|core)::panicking::.*|_?_?PyErr_SetObject|PyTraceBack_Here");

    private static final String CALL_OPERATOR = "operator()";

    private static final Pattern NAMELESS = Pattern.compile("\\[.*\\+0x[0-9a-f]+\\]");
    private static final Pattern JAVASCRIPT =
            Pattern.compile(
                    "(?:JS|LazyCompile|Function|Eval|Script):[*~^+]*\\s*(.*?)\\s*([^ ]*):(\\d+):\\d+");
    private static final Pattern PYTHON = Pattern.compile("py::(.*):([^:]*)");
    private static final Pattern JAVA =
            Pattern.compile("\\S+ ((?:\\w+\\.)*)([\\w$]+\\.[\\w$<>]+)\\(.*");

    private final CallTreeBuilder trees;
    private final Map<Integer, ProgramPlace> known = new HashMap<>();
    private final Map<Integer, String> leaves = new HashMap<>();
    private final Map<Integer, String> entries = new HashMap<>();
    private final Map<Integer, Boolean> throwing = new HashMap<>();

    /** Of the chains in {@code trees}. */
    public ProgramFrames(CallTreeBuilder trees) {
        this.trees = trees;
    }

    /** The place of a chain, by its node. */
    public ProgramPlace of(int node) {
        return node < 0 ? ProgramPlace.UNKNOWN : known.computeIfAbsent(node, this::find);
    }

    /** The innermost function of user code that has a name; empty where the kernel called none. */
    String leaf(int node) {
        if (node < 0) {
            return "";
        }
        return leaves.computeIfAbsent(
                node,
                at ->
                        trees.chain(at).reversed().stream()
                                .filter(frame -> frame.kind() != Frame.Kind.KERNEL)
                                .findFirst()
                                .filter(ProgramFrames::isNamed)
                                .filter(frame -> !isProgram(frame))
                                .map(ProgramFrames::name)
                                .orElse(""));
    }

    /** Whether an exception was being thrown there, under the program's innermost function. */
    boolean isThrowing(int node) {
        return node >= 0
                && throwing.computeIfAbsent(
                        node,
                        at ->
                                trees.chain(at).reversed().stream()
                                        .takeWhile(frame -> !isProgram(frame))
                                        .anyMatch(
                                                frame -> THROWING.matcher(frame.name()).matches()));
    }

    /** The function of a library that the program called; empty where its own code ran. */
    String entry(int node) {
        return node < 0
                ? ""
                : entries.computeIfAbsent(node, at -> entry(trees.chain(at).reversed()));
    }

    /** As {@link #entry(int)}, of a chain, callee first. */
    static String entry(List<Frame> chain) {
        String last = "";
        for (Frame frame : chain) {
            if (isProgram(frame)) {
                return last;
            }
            boolean code = frame.kind() == Frame.Kind.USER;
            last = code && isNamed(frame) ? name(frame) : last;
        }
        return "";
    }

    private ProgramPlace find(int node) {
        return place(trees.chain(node).reversed());
    }

    /** The place of a chain, callee first. */
    static ProgramPlace place(List<Frame> chain) {
        Frame first = null;
        Frame own = null;
        List<String> callers = new ArrayList<>();
        // Native code that functions of a script or of Java call is a library of theirs.
        boolean scripted =
                chain.stream().anyMatch(one -> one.kind() == Frame.Kind.JIT && isProgram(one));
        for (Frame frame : chain) {
            boolean code = frame.kind() == Frame.Kind.USER || frame.kind() == Frame.Kind.JIT;
            boolean named = !frame.name().startsWith("[");
            if (!code) {
                continue;
            }
            if (first == null || !isNamed(first) && named) {
                first = frame;
            }
            if (isProgram(frame) && (!scripted || frame.kind() == Frame.Kind.JIT)) {
                if (own == null) {
                    own = frame;
                } else if (named) {
                    add(callers, name(own), name(frame));
                }
            }
        }
        Frame shown =
                own != null && (isNamed(own) || own.equals(first))
                        ? own
                        : own == null ? first : own;
        return shown == null
                ? ProgramPlace.UNKNOWN
                : new ProgramPlace(name(shown), shown.module(), callers, own != null);
    }

    private static boolean isNamed(Frame frame) {
        return !frame.name().startsWith("[");
    }

    /** A recursive function is one caller. */
    private static void add(List<String> callers, String innermost, String name) {
        String last = callers.isEmpty() ? innermost : callers.getLast();
        if (!name.equals(last)) {
            callers.add(name);
        }
    }

    /** Whether a module runs scripts. */
    static boolean isInterpreter(String module) {
        return module.matches("(lib)?(python|perl|ruby|php|lua|node|pypy)[-.\\d]*(\\.so[.\\d]*)?");
    }

    static boolean isProgram(Frame frame) {
        boolean code = frame.kind() == Frame.Kind.USER || frame.kind() == Frame.Kind.JIT;
        return code
                && !RUNTIME_MODULE.matcher(frame.module()).matches()
                && !RUNTIME_FUNCTION.matcher(frame.name()).matches();
    }

    /**
     * A function's name as its author wrote it: without parameters, folders and compilers' marks.
     */
    static String name(Frame frame) {
        String name = frame.name();
        if (NAMELESS.matcher(name).matches()) {
            String module = name.substring(0, name.lastIndexOf('+')) + "]";
            return module.equals("[unknown]") ? module : module + " without symbols";
        }
        Matcher script = JAVASCRIPT.matcher(name);
        if (script.matches()) {
            String function = script.group(1).isEmpty() ? "(anonymous)" : script.group(1);
            String file = script.group(2);
            return function
                    + " ("
                    + file.substring(file.lastIndexOf('/') + 1)
                    + ":"
                    + script.group(3)
                    + ")";
        }
        Matcher python = PYTHON.matcher(name);
        if (python.matches()) {
            String file = python.group(2);
            return python.group(1) + " (" + file.substring(file.lastIndexOf('/') + 1) + ")";
        }
        Matcher java = JAVA.matcher(name);
        if (frame.kind() == Frame.Kind.JIT && java.matches()) {
            return java.group(2);
        }
        String place = frame.place();
        int call = name.lastIndexOf(CALL_OPERATOR);
        int parameters = name.indexOf('(', call < 0 ? 0 : call + CALL_OPERATOR.length());
        boolean cplusplus = parameters > 0 && name.endsWith(")") && !name.contains("{lambda");
        String plain = cplusplus ? name.substring(0, parameters).strip() : name;
        plain = plain.replaceFirst("\\.(constprop|isra|part|cold|lto_priv)(\\.\\d+)*$", "");
        return place.isEmpty() ? plain : plain + " (" + place + ")";
    }
}
