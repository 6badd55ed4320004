/**
 * Parses and explains the verifier's log: the rejected instruction, its source line, the origin of
 * the register, the reason, and the usual remedy.
 *
 * {@snippet :
 * try (Program program = Program.load(spec)) {
 *     run(program);
 * } catch (VerifierException e) {
 *     e.explanation().lines().forEach(System.err::println);
 * }
 * }
 */
package sonde.bpf.verifier;
