/** What {@code conformance/freeze} runs inside the build that it looks at. */
@NullMarked
package sonde.conformance.freeze;

import org.jspecify.annotations.NullMarked;
