/** Pages of the documentation in a terminal: {@code sonde help TOPIC}. */
package sonde.tools.help;
