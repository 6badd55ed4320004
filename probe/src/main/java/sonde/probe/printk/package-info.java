/** The kernel's log, and the switches of its debug messages (dynamic debug). */
@org.jspecify.annotations.NullMarked
package sonde.probe.printk;
