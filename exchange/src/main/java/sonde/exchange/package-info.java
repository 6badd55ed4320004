/** The protobuf wire format, read and written. */
package sonde.exchange;
