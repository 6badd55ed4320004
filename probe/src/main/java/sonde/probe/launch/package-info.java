/**
 * Starts the recorded command so that it cannot notice a difference from a start by the shell, and
 * opens files of other processes safely.
 *
 * {@snippet :
 * Origin origin = Origin.capture(); // first thing in main, before the JVM is made to change
 * try (Target target = Launcher.prepare(Command.lastArguments(2), origin)) {
 *     arm(target.pid()); // the process exists and waits before its only execve
 *     target.release();
 *     WaitStatus status = target.await();
 * }
 * }
 */
package sonde.probe.launch;
