package sonde.symbol.demangle;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rust's symbol mangling v0 (Rust RFC 2603). Written as it is read: a back reference reads an
 * earlier part of the name once more. Hashes of crates and types of constants are left out.
 */
final class RustV0 {
    private static final Map<Character, String> BASIC =
            Map.ofEntries(
                    Map.entry('a', "i8"),
                    Map.entry('b', "bool"),
                    Map.entry('c', "char"),
                    Map.entry('d', "f64"),
                    Map.entry('e', "str"),
                    Map.entry('f', "f32"),
                    Map.entry('h', "u8"),
                    Map.entry('i', "isize"),
                    Map.entry('j', "usize"),
                    Map.entry('l', "i32"),
                    Map.entry('m', "u32"),
                    Map.entry('n', "i128"),
                    Map.entry('o', "u128"),
                    Map.entry('p', "_"),
                    Map.entry('s', "i16"),
                    Map.entry('t', "u16"),
                    Map.entry('u', "()"),
                    Map.entry('v', "..."),
                    Map.entry('x', "i64"),
                    Map.entry('y', "u64"),
                    Map.entry('z', "!"));

    /** Back references may nest, and so double the work at each step. */
    private static final int STEP_LIMIT = 20_000;

    private static final int DEPTH_LIMIT = 200;

    private final String text;
    private final DemangledText out = new DemangledText();
    private int at;
    private int depth;
    private int steps;
    private int lifetimes;
    private boolean silent;

    private RustV0(String text) {
        this.text = text;
    }

    static String demangle(String name) {
        int end = 2;
        while (end < name.length() && name.charAt(end) != '.' && name.charAt(end) != '$') {
            end++;
        }
        // positions of back references count from behind "_R"
        RustV0 reader = new RustV0(name.substring(2, end));
        reader.symbol();
        String suffix = name.substring(end);
        return suffix.isEmpty() || suffix.startsWith(".llvm.")
                ? reader.out.toString()
                : reader.out.toString() + suffix;
    }

    private void symbol() {
        if (MangledCursor.isDigit(peek())) {
            throw UnfitNameException.INSTANCE; // a later version of the scheme
        }
        path(true);
        if (at < text.length()) {
            silent = true;
            path(false);
        }
        if (at != text.length()) {
            throw UnfitNameException.INSTANCE;
        }
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    private char next() {
        if (at >= text.length()) {
            throw UnfitNameException.INSTANCE;
        }
        return text.charAt(at++);
    }

    private boolean accept(char c) {
        if (peek() == c) {
            at++;
            return true;
        }
        return false;
    }

    private void print(String s) {
        if (!silent) {
            out.add(s);
        }
    }

    private void enter() {
        if (++depth > DEPTH_LIMIT || ++steps > STEP_LIMIT) {
            throw UnfitNameException.INSTANCE;
        }
    }

    /** {@code _} is 0, {@code 0_} is 1…, in base 62; hashes of crates fill all 64 bits. */
    private long base62() {
        if (accept('_')) {
            return 0;
        }
        long value = 0;
        while (!accept('_')) {
            char c = next();
            int digit =
                    MangledCursor.isDigit(c)
                            ? c - '0'
                            : c >= 'a' && c <= 'z'
                                    ? c - 'a' + 10
                                    : c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
            if (digit < 0) {
                throw UnfitNameException.INSTANCE;
            }
            value = 62 * value + digit;
        }
        return value + 1;
    }

    private long disambiguator() {
        return accept('s') ? base62() + 1 : 0;
    }

    private String identifier() {
        boolean punycode = accept('u');
        long length = 0;
        if (!MangledCursor.isDigit(peek())) {
            throw UnfitNameException.INSTANCE;
        }
        if (!accept('0')) {
            while (MangledCursor.isDigit(peek()) && length < 1 << 20) {
                length = 10 * length + (next() - '0');
            }
        }
        accept('_');
        if (length > text.length() - at) {
            throw UnfitNameException.INSTANCE;
        }
        String name = text.substring(at, at + (int) length);
        at += (int) length;
        return punycode ? Punycode.decode(name) : name;
    }

    /** Reads what stands at an earlier place. */
    private void backReference(Runnable reader) {
        int here = at - 1;
        long target = base62();
        if (target < 0 || target >= here) {
            throw UnfitNameException.INSTANCE;
        }
        if (silent) {
            return;
        }
        int back = at;
        at = (int) target;
        reader.run();
        at = back;
    }

    /**
     * @param isValue whether generic arguments need the turbofish
     */
    private void path(boolean isValue) {
        enter();
        switch (next()) {
            case 'C' -> {
                disambiguator();
                print(identifier());
            }
            case 'M' -> {
                implementation();
                print("<");
                type();
                print(">");
            }
            case 'X' -> {
                implementation();
                qualified();
            }
            case 'Y' -> qualified();
            case 'N' -> nested(isValue);
            case 'I' -> {
                path(isValue);
                print(isValue ? "::<" : "<");
                arguments();
                print(">");
            }
            case 'B' -> backReference(() -> path(isValue));
            default -> throw UnfitNameException.INSTANCE;
        }
        depth--;
    }

    private void qualified() {
        print("<");
        type();
        print(" as ");
        path(false);
        print(">");
    }

    /** The path of an impl block is not shown. */
    private void implementation() {
        disambiguator();
        boolean outer = silent;
        silent = true;
        path(false);
        silent = outer;
    }

    private void nested(boolean isValue) {
        char namespace = next();
        path(isValue);
        long number = disambiguator();
        String name = identifier();
        if (namespace >= 'A' && namespace <= 'Z') {
            print("::{");
            print(
                    switch (namespace) {
                        case 'C' -> "closure";
                        case 'S' -> "shim";
                        default -> String.valueOf(namespace);
                    });
            print(name.isEmpty() ? "" : ":" + name);
            print("#" + number + "}");
        } else if (namespace >= 'a' && namespace <= 'z') {
            print(name.isEmpty() ? "" : "::" + name);
        } else {
            throw UnfitNameException.INSTANCE;
        }
    }

    private void arguments() {
        boolean first = true;
        while (!accept('E')) {
            print(first ? "" : ", ");
            first = false;
            if (accept('L')) {
                lifetime(base62());
            } else if (accept('K')) {
                constant();
            } else {
                type();
            }
        }
    }

    private void lifetime(long index) {
        if (index == 0) {
            print("'_");
            return;
        }
        long letter = lifetimes - index;
        if (letter < 0) {
            throw UnfitNameException.INSTANCE;
        }
        print(letter < 26 ? "'" + (char) ('a' + letter) : "'_" + letter);
    }

    private void type() {
        enter();
        char tag = next();
        String basic = BASIC.get(tag);
        if (basic != null) {
            print(basic);
        } else {
            compound(tag);
        }
        depth--;
    }

    private void compound(char tag) {
        switch (tag) {
            case 'R', 'Q' -> {
                print("&");
                if (accept('L')) {
                    long index = base62();
                    if (index != 0) {
                        lifetime(index);
                        print(" ");
                    }
                }
                print(tag == 'Q' ? "mut " : "");
                type();
            }
            case 'P', 'O' -> {
                print(tag == 'P' ? "*const " : "*mut ");
                type();
            }
            case 'A' -> {
                print("[");
                type();
                print("; ");
                constant();
                print("]");
            }
            case 'S' -> {
                print("[");
                type();
                print("]");
            }
            case 'T' -> tuple();
            case 'F' -> binder(this::function);
            case 'D' -> {
                print("dyn ");
                binder(this::bounds);
                if (!accept('L')) {
                    throw UnfitNameException.INSTANCE;
                }
                long index = base62();
                if (index != 0) {
                    print(" + ");
                    lifetime(index);
                }
            }
            case 'B' -> backReference(this::type);
            default -> {
                at--;
                path(false);
            }
        }
    }

    private void tuple() {
        print("(");
        int count = 0;
        while (!accept('E')) {
            print(count++ == 0 ? "" : ", ");
            type();
        }
        print(count == 1 ? ",)" : ")");
    }

    private void binder(Runnable inner) {
        int outer = lifetimes;
        if (accept('G')) {
            long count = base62() + 1;
            if (count < 1 || count > 64) {
                throw UnfitNameException.INSTANCE;
            }
            print("for<");
            for (int i = 0; i < count; i++) {
                print(i == 0 ? "" : ", ");
                lifetimes++;
                lifetime(1);
            }
            print("> ");
        }
        inner.run();
        lifetimes = outer;
    }

    private void function() {
        print(accept('U') ? "unsafe " : "");
        if (accept('K')) {
            String abi = accept('C') ? "C" : identifier().replace('_', '-');
            print("extern \"" + abi + "\" ");
        }
        print("fn(");
        boolean first = true;
        while (!accept('E')) {
            print(first ? "" : ", ");
            first = false;
            type();
        }
        print(")");
        if (!accept('u')) {
            print(" -> ");
            type();
        }
    }

    private void bounds() {
        boolean first = true;
        while (!accept('E')) {
            print(first ? "" : " + ");
            first = false;
            boolean open = openPath();
            while (accept('p')) {
                print(open ? ", " : "<");
                open = true;
                print(identifier());
                print(" = ");
                type();
            }
            print(open ? ">" : "");
        }
    }

    /** A trait's path whose generic arguments stay open for the associated types. */
    private boolean openPath() {
        enter();
        boolean[] open = {false};
        if (accept('B')) {
            backReference(() -> open[0] = openPath());
        } else if (accept('I')) {
            path(false);
            print("<");
            arguments();
            open[0] = true;
        } else {
            path(false);
        }
        depth--;
        return open[0];
    }

    private void constant() {
        enter();
        char tag = next();
        switch (tag) {
            case 'p' -> print("_");
            case 'B' -> backReference(this::constant);
            case 'b' -> {
                String hex = hex();
                print(
                        switch (hex) {
                            case "0" -> "false";
                            case "1" -> "true";
                            default -> throw UnfitNameException.INSTANCE;
                        });
            }
            case 'c' -> character();
            default -> {
                if ("ahilmnjostxy".indexOf(tag) < 0) {
                    throw UnfitNameException.INSTANCE;
                }
                print(accept('n') ? "-" : "");
                String hex = hex();
                print(
                        hex.length() > 16
                                ? "0x" + hex
                                : Long.toUnsignedString(Long.parseUnsignedLong(hex, 16)));
            }
        }
        depth--;
    }

    private void character() {
        String hex = hex();
        int value = hex.length() > 6 ? -1 : Integer.parseInt(hex, 16);
        if (!Character.isValidCodePoint(value)) {
            throw UnfitNameException.INSTANCE;
        }
        @Nullable String named =
                switch (value) {
                    case '\t' -> "\\t";
                    case '\n' -> "\\n";
                    case '\r' -> "\\r";
                    case '\'' -> "\\'";
                    case '\\' -> "\\\\";
                    default -> null;
                };
        boolean plain = value >= ' ' && value != 0x7f && Character.isDefined(value);
        print(
                "'"
                        + (named != null
                                ? named
                                : plain
                                        ? Character.toString(value)
                                        : "\\u{" + Integer.toHexString(value) + "}")
                        + "'");
    }

    /** Hexadecimal digits up to {@code _}, without leading zeros. */
    private String hex() {
        int start = at;
        while (peek() != '_') {
            char c = next();
            if (!MangledCursor.isDigit(c) && (c < 'a' || c > 'f')) {
                throw UnfitNameException.INSTANCE;
            }
        }
        String digits = text.substring(start, at++);
        String stripped = digits.replaceFirst("^0+(?=.)", "");
        return stripped.isEmpty() ? "0" : stripped;
    }
}
