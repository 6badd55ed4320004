package sonde.symbol;

import java.util.regex.Pattern;

/** Symbols of functions that compilers made of others: {@code f.constprop.0}, {@code f.part.0}. */
public final class CloneSuffix {
    private static final Pattern CLONE =
            Pattern.compile(".+?\\.(?:constprop|isra|part|cold|clone)(?:\\.[\\w.]*)?");

    /** Behind the name of a whole function, or of one that is nested in another (GNU C). */
    private static final Pattern WHOLE =
            Pattern.compile("\\.\\d+|(?:\\.(?:constprop|isra|llvm|lto_priv)\\.\\d+)+");

    private CloneSuffix() {}

    /** Whether a symbol is that of a clone or of a part of a function. */
    public static boolean isClone(String symbol) {
        return CLONE.matcher(symbol).matches();
    }

    /** Whether a symbol stands for the whole function of a name in the source. */
    public static boolean isMadeOf(String symbol, String name) {
        return symbol.length() > name.length()
                && symbol.startsWith(name)
                && WHOLE.matcher(symbol.substring(name.length())).matches();
    }

    /** The function that a symbol stands for; the symbol itself where it is no clone. */
    public static String original(String symbol) {
        int dot = symbol.indexOf('.', 1);
        String name = dot < 0 ? symbol : symbol.substring(0, dot);
        return isMadeOf(symbol, name) ? name : symbol;
    }
}
