/** What can be recorded: {@code sonde list}. */
package sonde.tools.list;
