// Package lab realises a topology: it makes the hosts, switches and links that
// linerate has to make itself, reaches the hosts that exist already, and gives
// each its addresses, routes and settings. Above it, nobody can tell virtual
// hosts from real ones.
//
// A virtual host is an agent process in a network namespace of its own. All of
// a lab's processes live in one process namespace whose first process, the
// keeper, ends when the conductor does; the kernel then kills the rest, and with
// the last process go the namespaces, links and addresses (pid_namespaces(7),
// network_namespaces(7)). There is no state on disk and nothing to clean up.
//
// Without root, the keeper is in a user namespace (user_namespaces(7)) as well.
package lab
