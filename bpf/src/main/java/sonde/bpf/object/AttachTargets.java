package sonde.bpf.object;

/**
 * Where programs go whose sections do not say it.
 *
 * @param device index of the network device for xdp, tcx and netkit; 0 for none
 * @param cgroup folder of cgroup2 for the cgroup kinds; empty for none
 * @param netns file of the network namespace for flow_dissector and sk_lookup; empty for none
 * @param pid process that user-space probes are for; -1 for all
 */
public record AttachTargets(int device, String cgroup, String netns, int pid) {
    /** Nothing beyond what sections say. */
    public static final AttachTargets NONE = new AttachTargets(0, "", "", -1);

    /** With a network device. */
    public AttachTargets onDevice(int index) {
        return new AttachTargets(index, cgroup, netns, pid);
    }

    /** With a cgroup. */
    public AttachTargets inCgroup(String folder) {
        return new AttachTargets(device, folder, netns, pid);
    }

    /** With a network namespace. */
    public AttachTargets inNetns(String file) {
        return new AttachTargets(device, cgroup, file, pid);
    }

    /** With a process. */
    public AttachTargets ofProcess(int id) {
        return new AttachTargets(device, cgroup, netns, id);
    }
}
