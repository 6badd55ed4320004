package sonde.lang.bpftrace.code;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.lang.bpftrace.expand.CodeFile;

/**
 * Static functions of sources: clang leaves nothing of those that it puts in where they are called,
 * or that nothing calls.
 */
final class StaticFunctions {
    private static final int MOST_BYTES = 1 << 20;
    private static final Pattern STATIC = Pattern.compile("\\bstatic\\b");

    private StaticFunctions() {}

    /** Whether a source declares a function as static. */
    static boolean has(CodeFile file, String function) {
        if (!file.isSource()) {
            return false;
        }
        String text = text(file);
        Matcher name = Pattern.compile("\\b" + Pattern.quote(function) + "\\s*\\(").matcher(text);
        while (name.find()) {
            String before = text.substring(declaration(text, name.start()), name.start());
            if (before.indexOf('=') < 0 && STATIC.matcher(before).find()) {
                return true;
            }
        }
        return false;
    }

    /** Where what stands at a place begins: behind the last statement or block. */
    private static int declaration(String text, int end) {
        int at = end;
        while (at > 0 && ";{}".indexOf(text.charAt(at - 1)) < 0) {
            at--;
        }
        return at;
    }

    private static String text(CodeFile file) {
        String text = file.text();
        if (text != null) {
            return text;
        }
        try {
            Path path = Path.of(file.name());
            return Files.size(path) > MOST_BYTES
                    ? ""
                    : new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return ""; // gone since it was compiled
        }
    }
}
