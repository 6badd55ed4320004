/**
 * Types of tracing languages: what values are and how their bytes lie.
 *
 * <pre>{@code
 * Tuple key = Tuple.of(List.of(Type.Int.I32, new Type.Text(16)));
 * key.sizeBytes(); // 20
 * key.toString(); // "(int32,string[16])"
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.type;
