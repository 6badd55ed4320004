/** {@code sonde heap}: what a program allocated, what made its peak, and what it did not free. */
package sonde.tools.heap;
