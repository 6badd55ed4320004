/** Recordings in other tools' formats: {@code sonde convert}. */
package sonde.tools.convert;
