/**
 * What BPF the machine has, and who holds it.
 *
 * {@snippet :
 * for (Map<String, Object> program : new Inventory(Holders.now()).programs()) {
 *     show(program.get("id"), program.get("name"), program.get("pids"));
 * }
 * }
 */
package sonde.bpf.inventory;
