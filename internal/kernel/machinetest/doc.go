// Package machinetest boots machines with kernels of their own for tests: user-mode Linux, and QEMU with a
// stock Debian kernel. Neither needs KVM, root, or a change to this machine.
//
// A machine has an initramfs with busybox, linerate as built from this tree, the modules and files that the
// test names, and an init script that executes commands:
//
//	server := machinetest.Machine{Name: "server", Kernel: machinetest.Debian(t), Modules: []string{"vmxnet3"}}
//	client := server
//	client.Name = "client"
//	cable := machinetest.NewCable(t)
//	server.Ports = []machinetest.Port{{Model: "vmxnet3", Cable: cable}}
//	client.Ports = server.Ports
//	machines := machinetest.Boot(t, server, client)
//	machines[0].Do(t, "ip address add 192.0.2.1/24 dev eth0")
//	via := machines[0].Via() // a command that reaches an agent on it, for a study
//	cable.Unplug(t)
//
// A Switch joins more than two ports. A machine with a Tree has this machine's file system, read-only, and
// can execute its programs, such as the test binaries that `go test -exec` has compiled:
// TestUserModeLinuxPackages tests this repository's packages on other kernels in this way.
//
// The processes of a machine are in a PID and network namespace of their own, whose first process supervises
// them. It ends when the test process does, even by SIGKILL, and the kernel then ends the machine. The
// machine's traffic stays in sockets between those processes.
//
// It is for tests only; no package imports it.
package machinetest
