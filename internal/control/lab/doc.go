// Package lab brings up a topology: it makes the virtual hosts, switches and links,
// reaches the real hosts by their `via`, and configures the addresses, routes and
// settings of each. Packages above treat virtual and real hosts alike.
//
// A virtual host is an agent process in a network namespace of its own. All processes
// of a lab are in one PID namespace, whose init process ends when the conductor does.
// The kernel then kills the other processes, and the namespaces, links and addresses
// disappear with the last of them (pid_namespaces(7), network_namespaces(7)). There is
// no state on disk and nothing to clean up.
//
// Without root, the init process is in a user namespace (user_namespaces(7)) as well.
package lab
