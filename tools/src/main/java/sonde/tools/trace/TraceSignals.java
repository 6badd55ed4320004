package sonde.tools.trace;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import sonde.lang.bpftrace.run.TraceSession;

/** SIGUSR1 for probes of a script that wait for it ({@code self:signal:SIGUSR1}). */
final class TraceSignals {
    /** Ends listening. */
    interface Listener extends AutoCloseable {
        @Override
        void close();
    }

    private TraceSignals() {}

    /** Listens when the script does. */
    static Listener listen(TraceSession session) {
        if (!session.listensToSignals()) {
            return () -> {};
        }
        try {
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Class<?> signal = Class.forName("sun.misc.Signal");
            MethodHandle run =
                    MethodHandles.publicLookup()
                            .findVirtual(
                                    TraceSession.class, "signal", MethodType.methodType(void.class))
                            .bindTo(session);
            Object ours =
                    MethodHandleProxies.asInterfaceInstance(
                            handler, MethodHandles.dropArguments(run, 0, signal));
            Object usr1 = signal.getConstructor(String.class).newInstance("USR1");
            Object before = signal.getMethod("handle", signal, handler).invoke(null, usr1, ours);
            return () -> {
                try {
                    signal.getMethod("handle", signal, handler).invoke(null, usr1, before);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            };
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("a JDK without jdk.unsupported", e);
        }
    }
}
