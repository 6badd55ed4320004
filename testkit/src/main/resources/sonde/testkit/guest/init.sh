#!/bin/busybox sh
# First process of a guest: loads the modules of the 9p road, stacks a writable layer on the host's
# root (read only), runs the job from the work share, reboots (QEMU ends: -no-reboot).
B=/bin/busybox
$B mount -t proc proc /proc
$B mount -t devtmpfs dev /dev
for module in /modules/*; do
    $B insmod "$module" || echo "sonde-guest: cannot load $module"
done
share=trans=virtio,version=9p2000.L,msize=1048576
$B mount -t 9p -o $share,cache=loose,ro host /host
$B mount -t tmpfs -o size=60% rw /rw
$B mkdir /rw/upper /rw/work
$B mount -t overlay -o lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work root /root
$B mount -t proc proc /root/proc
$B mount -t sysfs sys /root/sys
$B mount -t devtmpfs dev /root/dev
$B mkdir -p /root/dev/shm /root/dev/pts /root/mnt
$B mount -t tmpfs shm /root/dev/shm
$B mount -t devpts pts /root/dev/pts
$B mount -t tracefs tracefs /root/sys/kernel/tracing
$B mount -t securityfs security /root/sys/kernel/security
$B mount -t cgroup2 cgroup /root/sys/fs/cgroup
$B mount -t bpf bpf /root/sys/fs/bpf
$B mount -t 9p -o $share work /root/mnt
$B ip link set lo up 2>/dev/null || $B ifconfig lo up
if [ -f /root/mnt/job.sh ]; then
    echo "sonde-guest: up"
    $B chroot /root /bin/sh /mnt/job.sh
else
    echo "sonde-guest: no work share"
fi
$B sync
# With acpi=off poweroff only halts; reboot ends QEMU in every case.
$B reboot -f
