// Package lab makes a topology: it makes the virtual hosts, switches and links,
// reaches the real hosts by their `via`, and gives each its addresses, routes and
// settings. Packages above treat virtual and real hosts alike.
//
// A virtual host is an agent process in a network namespace of its own. All processes
// of a lab are in one process namespace, whose init process ends when the conductor
// does; the kernel then kills the others, and with the last process the namespaces,
// links and addresses end (pid_namespaces(7), network_namespaces(7)). There is no
// state on disk and nothing to clean up.
//
// Without root, the init process is in a user namespace (user_namespaces(7)) as well.
package lab
