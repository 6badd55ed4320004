package sonde.probe.stack;

import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.bpf.BpfRefusedException;
import sonde.sys.Errno;

/**
 * Offsets in bytes of the kernel's fields that lead from a task to its mappings and their files, as
 * the running kernel's BTF states them (include/linux/mm_types.h, fs.h; the maple tree of mappings
 * since Linux 6.1).
 *
 * @param mm struct task_struct
 * @param mapleRoot of {@code mm_mt.ma_root} in struct mm_struct
 * @param lockSequence {@code mm_lock_seq}, which counts changes of the mappings (Linux 6.4, with
 *     CONFIG_PER_VMA_LOCK); -1 without
 * @param vdso of {@code context.vdso} in struct mm_struct
 * @param vmStart struct vm_area_struct, as the next four
 * @param inode of {@code f_inode} in struct file
 * @param superBlock struct inode, as the next two
 * @param modified seconds of the time of modification
 * @param device of {@code s_dev} in struct super_block
 * @param returns null for a kernel without uprobes
 * @param fsBase of {@code thread.fsbase} in struct task_struct
 * @param startStack struct mm_struct: top of the stack of the first thread
 */
record KernelFields(
        int mm,
        int mapleRoot,
        int lockSequence,
        int vdso,
        int vmStart,
        int vmEnd,
        int vmFlags,
        int vmFile,
        int vmPageOffset,
        int inode,
        int superBlock,
        int inodeNumber,
        int modified,
        int device,
        @Nullable ReturnFields returns,
        int fsBase,
        int startStack) {
    /**
     * Offsets that lead to the return addresses that uretprobes have replaced.
     *
     * @param area of {@code uprobes_state.xol_area} in struct mm_struct
     * @param address struct xol_area
     * @param utask struct task_struct
     * @param instances struct uprobe_task
     * @param stack struct return_instance, as the next two
     */
    record ReturnFields(
            int area, int address, int utask, int instances, int stack, int original, int next) {
        static @Nullable ReturnFields of(Btf btf) throws IOException {
            if (!has(btf, "task_struct", "utask") || !has(btf, "xol_area", "vaddr")) {
                return null; // without CONFIG_UPROBES
            }
            return new ReturnFields(
                    offset(btf, "mm_struct", "uprobes_state")
                            + offset(btf, "uprobes_state", "xol_area"),
                    offset(btf, "xol_area", "vaddr"),
                    offset(btf, "task_struct", "utask"),
                    offset(btf, "uprobe_task", "return_instances"),
                    offset(btf, "return_instance", "stack"),
                    offset(btf, "return_instance", "orig_ret_vaddr"),
                    offset(btf, "return_instance", "next"));
        }
    }

    /**
     * Reads the offsets.
     *
     * @throws BpfRefusedException when a field is not there: kernels before 6.1 have no maple tree
     */
    static KernelFields of(Btf btf) throws IOException {
        int start = offset(btf, "vm_area_struct", "vm_start");
        return new KernelFields(
                offset(btf, "task_struct", "mm"),
                offset(btf, "mm_struct", "mm_mt") + offset(btf, "maple_tree", "ma_root"),
                has(btf, "mm_struct", "mm_lock_seq") ? offset(btf, "mm_struct", "mm_lock_seq") : -1,
                offset(btf, "mm_struct", "context") + vdso(btf),
                start,
                offset(btf, "vm_area_struct", "vm_end"),
                offset(btf, "vm_area_struct", "vm_flags"),
                offset(btf, "vm_area_struct", "vm_file"),
                offset(btf, "vm_area_struct", "vm_pgoff"),
                offset(btf, "file", "f_inode"),
                offset(btf, "inode", "i_sb"),
                offset(btf, "inode", "i_ino"),
                // i_mtime, __i_mtime (6.6), i_mtime_sec (6.11)
                offset(btf, "inode", "i_mtime_sec", "__i_mtime", "i_mtime"),
                offset(btf, "super_block", "s_dev"),
                ReturnFields.of(btf),
                offset(btf, "task_struct", "thread") + offset(btf, "thread_struct", "fsbase"),
                offset(btf, "mm_struct", "start_stack"));
    }

    private static int vdso(Btf btf) throws IOException {
        int id = btf.find("mm_context_t", BtfType.Typedef.class::isInstance);
        if (id != 0 && btf.type(btf.skipModifiers(id)) instanceof BtfType.Struct context) {
            Optional<BtfType.Member> vdso = btf.member(context, "vdso");
            if (vdso.isPresent()) {
                return vdso.get().bitOffset() / 8;
            }
        }
        throw missing("mm_context_t.vdso");
    }

    private static boolean has(Btf btf, String struct, String member) throws IOException {
        Optional<BtfType.Struct> type = btf.struct(struct);
        return type.isPresent() && btf.member(type.get(), member).isPresent();
    }

    private static int offset(Btf btf, String struct, String... names) throws IOException {
        BtfType.Struct type = btf.struct(struct).orElseThrow(() -> missing("struct " + struct));
        for (String name : names) {
            Optional<BtfType.Member> member = btf.member(type, name);
            if (member.isPresent()) {
                return member.get().bitOffset() / 8;
            }
        }
        throw missing(struct + "." + names[0]);
    }

    private static BpfRefusedException missing(String what) {
        return new BpfRefusedException(what, Errno.ENOENT, "this kernel has none", "");
    }
}
