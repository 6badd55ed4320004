/** What readers share: rows of their own payloads, batches made of them, lists of numbers. */
package sonde.recording;
