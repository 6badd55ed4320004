/**
 * Contains the types of tracing languages: values and their memory layout.
 *
 * <pre>{@code
 * TupleType key = TupleType.of(List.of(ValueType.IntType.I32, new ValueType.TextType(16)));
 * key.sizeBytes(); // 20
 * key.toString(); // "(int32,string[16])"
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.type;
