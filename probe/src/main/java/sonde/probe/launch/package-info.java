/**
 * Starts the recorded command so that it cannot notice a difference from a start by the shell, and
 * opens files of other processes safely.
 *
 * {@snippet :
 * InheritedState origin = InheritedState.capture(); // first in main, before the JVM changes it
 * try (LaunchedCommand target = CommandLauncher.prepare(CommandWords.lastArguments(2), origin)) {
 *     arm(target.pid()); // the process exists and waits before its only execve
 *     target.release();
 *     WaitStatus status = target.await();
 * }
 * }
 */
package sonde.probe.launch;
