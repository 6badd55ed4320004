/**
 * The verifier's log, read and explained: which instruction it refused, on which line of the source
 * that is, where the register in question came from, why, and what usually helps.
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
