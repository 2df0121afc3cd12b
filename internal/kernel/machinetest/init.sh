#!/bin/sh
# The first process of a machine: loads the modules, names the ports, executes commands.
export PATH=/bin:/sbin HOME=/root
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
ln -s /proc/self/fd /dev/fd
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp

while read -r module; do
	# shellcheck disable=SC2086 # a name and its parameters
	output=$(modprobe $module 2>&1) || echo "modprobe $module: $output" | tee -a /run/faults
done </etc/machinetest/modules

# The tree is mounted over the root, where programs that have it as their root can make
# user namespaces: create_user_ns() refuses those in a chroot(2) below. The root of this
# script and of its children stays what it is, until they chroot to the directory ".".
if [ -d /tree ]; then
	read -r device type options modules </etc/machinetest/tree
	mount -t "$type" -o "$options" "$device" /tree
	for dir in proc sys sys/fs/cgroup dev dev/pts dev/shm run; do
		mount --bind "/$dir" "/tree/$dir"
	done
	mount --bind "/tree$modules" /lib/modules
	mkdir /run/home /run/tmp
	cd /tree || exit
	mount --move . /
fi

# Port N is ethN, whichever driver was first. Each name is free when it is needed,
# because all have been moved away before.
named() { # named MAC NAME
	for port in /sys/class/net/*; do
		[ "$(cat "$port/address")" != "$1" ] || ip link set dev "${port##*/}" name "$2"
	done
}
for prefix in port eth; do
	n=0
	while read -r mac; do
		named "$mac" "$prefix$n"
		n=$((n + 1))
	done </etc/machinetest/ports
done
ip link set dev lo up

# serve DEVICE: a request is "ID SECONDS SCRIPT", SCRIPT in base64; its response is
# "ID STATUS LENGTH" and the output.
serve() {
	exec <>"$1" >&0
	case $1 in /dev/tty*) stty raw -echo ;; esac
	echo ready
	while :; do
		# Of a virtio port whose other end is not connected, read finds the end.
		read -r id seconds script || { sleep 0.2 && continue; }
		echo "$script" | base64 -d >"/run/$id"
		timeout -s KILL "$seconds" sh "/run/$id" </dev/null >"/run/$id.out" 2>&1
		echo "$id $? $(wc -c <"/run/$id.out")"
		cat "/run/$id.out"
		rm "/run/$id" "/run/$id.out"
	done
}
read -r commands agents </etc/machinetest/channels
[ -z "$agents" ] || serve "$agents" &
cd / || exit
serve "$commands"
