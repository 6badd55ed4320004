/** What this machine allows: {@code sonde doctor}. */
package sonde.tools.doctor;
