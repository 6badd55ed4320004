/**
 * Starts the command to be recorded so that it cannot tell the difference from a start by the
 * shell, and touches other processes' files without being led astray.
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
