package sonde.symbol.line;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Programs built in a test, which say themselves where they are. */
final class Programs {
    /** Prints {@code ADDRESS FUNCTION LINE FUNCTION LINE…}, innermost first, for each SAY. */
    static final String C =
            """
            #include <stdio.h>
            struct at { const char *function; int line; const struct at *up; };
            extern char __executable_start;
            __attribute__((noinline)) static void say(const struct at *at)
            {
                unsigned long here = (unsigned long)__builtin_return_address(0) - 1;
            #if defined(__PIE__) || defined(__PIC__)
                here -= (unsigned long)&__executable_start;
            #endif
                printf("%lx", here);
                for (; at; at = at->up)
                    printf(" %s %d", at->function, at->line);
                printf("\\n");
            }
            #define HERE(up) &(struct at){ __func__, __LINE__, up }
            #define SAY(up) say(HERE(up)); __asm__ volatile("")
            #define INLINE static inline __attribute__((always_inline))
            INLINE void innermost(const struct at *up)
            {
                SAY(up);
            }
            INLINE void middle(const struct at *up, int n)
            {
                if (n > 0)
                    innermost(HERE(up));
                SAY(up);
                innermost(HERE(up));
            }
            __attribute__((noinline, cold)) static void rare(int n)
            {
                SAY(0);
                middle(HERE(0), n);
            }
            __attribute__((noinline)) static int loop(int n)
            {
                int sum = 0;
                for (int i = 0; i < n; i++) {
                    sum += i * n;
                    if (i == 1) {
                        int inner = sum;
                        middle(HERE(0), inner);
                    }
                }
                SAY(0);
                return sum;
            }
            int main(int argc, char **argv)
            {
                SAY(0);
                int sum = loop(argc + 2);
                if (sum > 2)
                    rare(sum);
                middle(HERE(0), argc);
                __asm__ volatile("");
                return 0;
            }
            """;

    private Programs() {}

    /** Runs a command in a folder; gives what it prints. */
    static String run(Path folder, List<String> command) throws IOException {
        List<String> bounded = new ArrayList<>(List.of("timeout", "60"));
        bounded.addAll(command);
        Process process =
                new ProcessBuilder(bounded)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException(command + ": " + text);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
        return text;
    }

    /** Whether a program is installed. */
    static boolean has(String name) {
        for (String folder : System.getenv("PATH").split(":")) {
            if (Files.isExecutable(Path.of(folder, name))) {
                return true;
            }
        }
        return false;
    }

    /** A place that a program said it was at. */
    record Said(long address, List<String> functions, List<Integer> lines) {}

    /** Runs a program; all it says. */
    static List<Said> listen(Path program) throws IOException {
        List<Said> all = new ArrayList<>();
        Path folder = program.toAbsolutePath().getParent();
        for (String line : run(folder, List.of(program.toString())).split("\n")) {
            String[] words = line.split(" ");
            List<String> functions = new ArrayList<>();
            List<Integer> lines = new ArrayList<>();
            for (int i = 1; i + 1 < words.length; i += 2) {
                functions.add(words[i]);
                lines.add(Integer.parseInt(words[i + 1]));
            }
            all.add(new Said(Long.parseUnsignedLong(words[0], 16), functions, lines));
        }
        return all;
    }
}
