/**
 * The records in which a recording keeps the paths and addresses that system calls were given.
 *
 * {@snippet :
 * NamedCall call = NamedCall.of(batch, row);
 * if (call != null && call.namedDescriptor() >= 0) {
 *     files.put(call.pid(), call.namedDescriptor(), call.name());
 * }
 * }
 */
package sonde.recording.names;
