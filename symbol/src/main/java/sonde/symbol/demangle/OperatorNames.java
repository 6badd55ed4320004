package sonde.symbol.demangle;

import java.util.HashMap;
import java.util.Map;

/** Operator codes of the Itanium C++ ABI, 5.1.3.2. */
final class OperatorNames {
    private static final Map<String, String> SIGNS = new HashMap<>();
    private static final String BINARY =
            "aN &= aS = aa && an & dV /= da delete[] dv / eO ^= eo ^ eq == ge >= gt > lS <<= le <= "
                    + "ls << lt < mI -= mL *= mi - ml * ne != oR |= oo || or | pL += pl + rM %= "
                    + "rS >>= rm % rs >> ss <=> cm , pm ->* ds .*";
    private static final String UNARY = "ad & co ~ de * ng - nt ! ps + pp ++ mm --";
    private static final String OTHER =
            "nw new na new[] dl delete da delete[] cl () ix [] qu ? pt -> aw co_await";

    static {
        for (String table : new String[] {BINARY, UNARY, OTHER}) {
            String[] words = table.split(" ");
            for (int i = 0; i < words.length; i += 2) {
                SIGNS.put(words[i], words[i + 1]);
            }
        }
    }

    private OperatorNames() {}

    static String sign(String code) {
        String sign = SIGNS.get(code);
        if (sign == null) {
            throw UnfitNameException.INSTANCE;
        }
        return sign;
    }

    static boolean isBinary(String code) {
        return SIGNS.containsKey(code)
                && (" " + BINARY + " ").contains(" " + code + " ")
                && !code.equals("da");
    }

    static boolean isUnary(String code) {
        return (" " + UNARY + " ").contains(" " + code + " ");
    }
}
