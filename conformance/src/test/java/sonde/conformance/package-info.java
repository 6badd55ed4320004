/** Tests that see the whole product: its architecture, its commands, its answers beside others'. */
package sonde.conformance;
