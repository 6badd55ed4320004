package sonde.symbol.demangle;

/** Names as the programmer wrote them. */
public final class Demangler {
    /** Longer names are left as they are. */
    private static final int LENGTH_LIMIT = 1 << 14;

    private Demangler() {}

    /**
     * The name as written in the source, chosen by the prefix: {@code _Z} C++ (and old Rust),
     * {@code _R} Rust. What is not mangled, breaks the rules or grows past 64 Ki characters comes
     * back unchanged.
     */
    public static String demangle(String name) {
        if (name.length() > LENGTH_LIMIT || !name.startsWith("_")) {
            return name;
        }
        try {
            if (name.startsWith("_R")) {
                return RustV0.demangle(name);
            }
            if (name.startsWith("_Z")) {
                String rust = RustLegacy.demangle(name);
                return rust.isEmpty() ? cxx(name) : rust;
            }
            return keyed(name);
        } catch (UnfitNameException e) {
            return name;
        }
    }

    /**
     * The name of a function without result, parameters and the marks of copies: {@code
     * shop::scale<int, 3>} of {@code int shop::scale<int, 3>(int) [clone .isra.0]}. What is not
     * mangled, or no function of the source, comes back unchanged.
     */
    public static String functionName(String name) {
        if (!name.startsWith("_Z") || name.length() > LENGTH_LIMIT) {
            return demangle(name);
        }
        try {
            String rust = RustLegacy.demangle(name);
            return rust.isEmpty() ? functionName(new MangledCursor(name, 2), name) : rust;
        } catch (UnfitNameException e) {
            return demangle(name);
        }
    }

    /**
     * Whether a symbol is the function that was written: its name with all name spaces before it or
     * the last of them, with or without parameters. Blanks do not count.
     */
    public static boolean means(String symbol, String written) {
        if (!symbol.startsWith("_")) {
            return false;
        }
        String wanted = written.replaceAll("\\s+", "");
        String name = functionName(symbol);
        if (ends(name, wanted)) {
            return true;
        }
        // Templates state their result first.
        String whole = demangle(symbol);
        return ends(whole.substring(Math.max(0, whole.indexOf(name))), wanted);
    }

    private static boolean ends(String name, String wanted) {
        String bare = name.replaceAll("\\s+", "");
        return bare.equals(wanted) || bare.endsWith("::" + wanted);
    }

    private static String functionName(MangledCursor cursor, String otherwise) {
        if (new CxxNames(cursor).encoding() instanceof CxxNode.Function function) {
            DemangledText out = new DemangledText();
            function.name(out);
            return out.toString();
        }
        return otherwise;
    }

    private static String cxx(String name) {
        try {
            return cxx(name, false);
        } catch (UnfitNameException e) {
            return cxx(name, true);
        }
    }

    private static String cxx(String name, boolean strict) {
        MangledCursor cursor = new MangledCursor(name, 2);
        cursor.isStrict = strict;
        CxxNode encoding = new CxxNames(cursor).encoding();
        DemangledText out = new DemangledText().add(encoding);
        clones(cursor, out);
        if (!cursor.atEnd()) {
            throw UnfitNameException.INSTANCE;
        }
        return out.toString();
    }

    /** {@code .isra.0.cold}: copies of functions that GCC made. */
    private static void clones(MangledCursor cursor, DemangledText out) {
        while (cursor.peek() == '.' && isCloneLetter(cursor.peek(1))) {
            out.add(" [clone ");
            out.add(cursor.take(1));
            while (isCloneLetter(cursor.peek())) {
                out.add(cursor.take(1));
            }
            while (cursor.peek() == '.' && MangledCursor.isDigit(cursor.peek(1))) {
                out.add(cursor.take(1));
                while (MangledCursor.isDigit(cursor.peek())) {
                    out.add(cursor.take(1));
                }
            }
            out.add("]");
        }
    }

    private static boolean isCloneLetter(char c) {
        return c >= 'a' && c <= 'z' || c == '_' || MangledCursor.isDigit(c);
    }

    /** {@code _GLOBAL__I_name}: constructors of the globals of a file. */
    private static String keyed(String name) {
        boolean fits =
                name.length() > 11
                        && name.startsWith("_GLOBAL_")
                        && "._$".indexOf(name.charAt(8)) >= 0
                        && "ID".indexOf(name.charAt(9)) >= 0
                        && name.charAt(10) == '_';
        if (!fits) {
            return name;
        }
        String what = name.charAt(9) == 'I' ? "constructors" : "destructors";
        return "global " + what + " keyed to " + demangle(name.substring(11));
    }
}
