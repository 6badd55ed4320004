/** What tests of every module use: format writers, the seeded property runner, guests. */
package sonde.testkit;
