/**
 * Lists the BPF objects of the machine and the processes that hold them.
 *
 * {@snippet :
 * for (Map<String, Object> program : new BpfInventory(ObjectHolders.now()).programs()) {
 *     show(program.get("id"), program.get("name"), program.get("pids"));
 * }
 * }
 */
package sonde.bpf.inventory;
