package sonde.probe.launch;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sonde.sys.ProcessCalls;
import sonde.sys.SignalDispositions;
import sonde.sys.SyscallException;

/**
 * Keeps signals that would end this JVM from ending it before the recording is complete.
 *
 * <p>Ctrl-C reaches the recorded command too, through the process group: it decides whether it
 * ends. SIGQUIT is ignored while listening, for HotSpot would print its threads to standard output.
 * SIGTSTP and SIGCONT keep their defaults, so Ctrl-Z and fg work on both. A signal that was ignored
 * when this process started stays ignored.
 */
public final class EndSignals implements AutoCloseable {
    /** What came. */
    public enum Kind {
        /** SIGINT: Ctrl-C. */
        INTERRUPT("INT", 2),
        /** SIGTERM. */
        TERMINATE("TERM", 15),
        /** SIGHUP: the terminal is gone. */
        HANGUP("HUP", 1);

        private final String signal;
        private final int number;

        Kind(String signal, int number) {
            this.signal = signal;
            this.number = number;
        }

        /** The signal's number. */
        public int number() {
            return number;
        }
    }

    private final Map<Kind, Object> before = new EnumMap<>(Kind.class);
    private final List<SignalDispositions.Disposition> ignored = new ArrayList<>();

    private EndSignals() {}

    /**
     * Listens from now on.
     *
     * @param consumer called for each signal, on a thread of its own; must not block for long
     */
    public static EndSignals listen(Consumer<Kind> consumer) throws SyscallException {
        EndSignals signals = new EndSignals();
        for (Kind kind : Kind.values()) {
            Object old = handle(kind, handler(() -> consumer.accept(kind)));
            if (old != null) {
                signals.before.put(kind, old);
            }
        }
        signals.ignored.add(SignalDispositions.ignore(ProcessCalls.SIGQUIT));
        return signals;
    }

    /** Puts the handlers back that were there before. */
    @Override
    public void close() throws SyscallException {
        before.forEach(EndSignals::handle);
        before.clear();
        for (SignalDispositions.Disposition disposition : ignored) {
            disposition.restore();
        }
        ignored.clear();
    }

    private static Object handler(Runnable action) {
        try {
            Class<?> type = Class.forName("sun.misc.SignalHandler");
            MethodHandle run =
                    MethodHandles.publicLookup()
                            .findVirtual(Runnable.class, "run", MethodType.methodType(void.class))
                            .bindTo(action);
            Class<?> signal = Class.forName("sun.misc.Signal");
            return MethodHandleProxies.asInterfaceInstance(
                    type, MethodHandles.dropArguments(run, 0, signal));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("a JDK without jdk.unsupported", e);
        }
    }

    /**
     * {@code sun.misc.Signal.handle} by reflection: its only other form is a compiler warning that
     * nothing silences.
     *
     * @return the handler before; null when the JVM runs with -Xrs and leaves signals alone
     */
    private static @Nullable Object handle(Kind kind, Object handler) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> type = Class.forName("sun.misc.SignalHandler");
            return signal.getMethod("handle", signal, type)
                    .invoke(
                            null,
                            signal.getConstructor(String.class).newInstance(kind.signal),
                            handler);
        } catch (InvocationTargetException e) {
            return null;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("a JDK without jdk.unsupported", e);
        }
    }
}
