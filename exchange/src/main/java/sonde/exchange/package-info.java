/** Reads and writes the protobuf wire format. */
package sonde.exchange;
