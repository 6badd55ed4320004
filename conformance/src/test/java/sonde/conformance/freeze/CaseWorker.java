package sonde.conformance.freeze;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Runs many command lines in one JVM: each start would cost 0.2 s. It uses the JDK alone and finds
 * the program by reflection, so that it works with the classes of any build.
 *
 * <p>A request is a line on the first named pipe: the paths for standard input, output and error,
 * then the words of the command, all separated by {@code \u001f}. The answer on the second pipe is
 * the exit code and the time in milliseconds. A standard output below {@code /dev} is a terminal;
 * it gets {@link #END} behind the command's output.
 */
public final class CaseWorker {
    private static final String END = "\u0000freeze-end\u0000";
    private static final int READ_ONLY = 0;
    private static final int WRITE_ONLY = 01001; // O_WRONLY|O_TRUNC

    private final MethodHandle open;
    private final MethodHandle dup2;
    private final MethodHandle close;
    private final Method run;
    private final Field descriptorNumber;
    private final Field descriptorClosed;

    @SuppressWarnings("restricted") // a tool of the tests that needs the JDK alone
    private CaseWorker() throws ReflectiveOperationException {
        Linker linker = Linker.nativeLinker();
        ValueLayout.OfInt number = ValueLayout.JAVA_INT;
        open =
                linker.downcallHandle(
                        linker.defaultLookup().findOrThrow("open"),
                        FunctionDescriptor.of(number, ValueLayout.ADDRESS, number),
                        Linker.Option.firstVariadicArg(2));
        dup2 =
                linker.downcallHandle(
                        linker.defaultLookup().findOrThrow("dup2"),
                        FunctionDescriptor.of(number, number, number));
        close =
                linker.downcallHandle(
                        linker.defaultLookup().findOrThrow("close"),
                        FunctionDescriptor.of(number, number));
        run =
                Class.forName("sonde.cli.Main")
                        .getDeclaredMethod(
                                "run", String[].class, PrintWriter.class, PrintWriter.class);
        run.setAccessible(true);
        descriptorNumber = FileDescriptor.class.getDeclaredField("fd");
        descriptorNumber.setAccessible(true);
        descriptorClosed = FileDescriptor.class.getDeclaredField("closed");
        descriptorClosed.setAccessible(true);
    }

    /** Serves until the pipe ends: CaseWorker REQUESTS ANSWERS. */
    public static void main(String[] args) throws Throwable {
        CaseWorker worker = new CaseWorker();
        try (BufferedReader requests =
                        new BufferedReader(
                                new InputStreamReader(
                                        new FileInputStream(args[0]), StandardCharsets.UTF_8));
                PrintStream answers =
                        new PrintStream(
                                new FileOutputStream(args[1]), true, StandardCharsets.UTF_8)) {
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                String[] words = line.split("\u001f", -1);
                long start = System.nanoTime();
                int status = worker.run(words);
                answers.println(status + " " + (System.nanoTime() - start) / 1_000_000);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private int run(String[] words) throws Throwable {
        redirect(words[0], READ_ONLY, 0);
        redirect(words[1], WRITE_ONLY, 1);
        redirect(words[2], WRITE_ONLY, 2);
        // The streams of the JDK keep what they have read ahead, so that each case needs its own.
        reopen(FileDescriptor.in, 0);
        reopen(FileDescriptor.out, 1);
        reopen(FileDescriptor.err, 2);
        System.setIn(new FileInputStream(FileDescriptor.in));
        PrintStream standard = printed(FileDescriptor.out, false);
        PrintStream error = printed(FileDescriptor.err, true);
        System.setOut(standard);
        System.setErr(error);
        PrintWriter out = new PrintWriter(standard, false, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(error, true, StandardCharsets.UTF_8);
        int status = status(Arrays.copyOfRange(words, 3, words.length), out, err);
        out.flush();
        err.flush();
        if (words[1].startsWith("/dev/") && !words[1].equals("/dev/null")) {
            standard.print(END);
        }
        standard.flush();
        return status;
    }

    private static PrintStream printed(FileDescriptor descriptor, boolean flushes) {
        return new PrintStream(new FileOutputStream(descriptor), flushes, StandardCharsets.UTF_8);
    }

    /** A command that closed a standard stream has marked the JDK's descriptor as closed. */
    private void reopen(FileDescriptor descriptor, int number) throws IllegalAccessException {
        descriptorNumber.setInt(descriptor, number);
        descriptorClosed.setBoolean(descriptor, false);
    }

    private int status(String[] command, PrintWriter out, PrintWriter err)
            throws IllegalAccessException {
        try {
            return (int) run.invoke(null, command, out, err);
        } catch (InvocationTargetException e) {
            err.println("freeze: thrown out of the command: " + e.getCause());
            return 255;
        }
    }

    private void redirect(String path, int flags, int descriptor) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            int file = (int) open.invokeExact(arena.allocateFrom(path), flags);
            if (file < 0) {
                throw new IOException("cannot open " + path);
            }
            int moved = (int) dup2.invokeExact(file, descriptor);
            int closed = (int) close.invokeExact(file);
            if (moved < 0 || closed < 0) {
                throw new IOException("cannot use " + path + " as descriptor " + descriptor);
            }
        }
    }
}
