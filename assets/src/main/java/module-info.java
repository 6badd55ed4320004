/** Built browser files, no code. */
module sonde.assets {}
