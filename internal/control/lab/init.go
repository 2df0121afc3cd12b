package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
)

// The keeper's inherited descriptors.
const (
	controlFD  = 3 // the plan comes in, the result goes out; end of file means: end
	execFD     = 4 // a listening socket for `lab exec`, or /dev/null
	firstAgent = 5 // one stream per node follows
)

// self is this very program, even where /proc shows other process ids and even
// after the file has been replaced.
const self = "/proc/self/exe"

// program is this program with other arguments.
func program(args ...string) *exec.Cmd {
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "linerate"
	return cmd
}

type initReply struct {
	Error string `json:"error,omitempty"`
	// Refused: the kernel did not want to make what a lab consists of.
	Refused bool `json:"refused,omitempty"`
	// Carried says who makes delay, losses and marks of links; empty: none has any.
	Carried string `json:"carried,omitempty"`
}

// Init is the first process of a lab: it makes the namespaces and the cables,
// starts an agent in each namespace, and stays until its control stream ends.
// It returns the process's exit status.
func Init() int {
	control := os.NewFile(controlFD, "control")
	in, out := json.NewDecoder(control), json.NewEncoder(control)
	var p plan
	if err := in.Decode(&p); err != nil {
		return 1
	}
	// Whatever is started here must not hold the others' streams: a stream ends
	// with its agent.
	proc.CloseOnExec(controlFD, firstAgent-controlFD+len(p.Nodes))
	nodes, err := build(&p)
	if err != nil {
		_ = out.Encode(initReply{Error: err.Error(), Refused: isNamespaceError(err)})
		return 1
	}
	if door, err := net.FileListener(os.NewFile(execFD, "door")); err == nil {
		go serveExec(door, p, nodes)
	}
	if err := out.Encode(initReply{Carried: p.carried}); err != nil {
		return 1
	}
	// Nothing more is ever said: this waits for the conductor's end.
	_, _ = io.Copy(io.Discard, control)
	return 0
}

// build starts the agents first, so that they come up while the cables are laid.
func build(p *plan) ([]*netlink.Namespace, error) {
	wires, err := wiresOf(*p)
	if err != nil {
		return nil, err
	}
	nodes := make([]*netlink.Namespace, len(p.Nodes))
	errs := make([]error, len(p.Nodes))
	var starting sync.WaitGroup
	for i, n := range p.Nodes {
		ns, err := netlink.NewNamespace(n.Name)
		if err != nil {
			return nil, err
		}
		nodes[i] = ns
		starting.Go(func() {
			errs[i] = ns.Do(func() error {
				if err := kernelDefaults(n); err != nil {
					return err
				}
				return startAgent(n.Name, firstAgent+i)
			})
		})
	}
	starting.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Nodes[i].Name, err)
		}
	}
	for i, n := range p.Nodes {
		if err := nodes[i].SetUp("lo"); err != nil {
			return nil, err
		}
		if n.Switch {
			if err := nodes[i].AddBridge(bridgeName); err != nil {
				return nil, err
			}
		}
	}
	// A bridge floods to the interface that joined last first. Cabled backwards, a
	// lab's switch floods in the order of the file.
	for _, c := range slices.Backward(p.Links) {
		if err := makeLink(*p, nodes, c, wires); err != nil {
			return nil, err
		}
	}
	p.carried = wires.carried(*p)
	return nodes, wires.start()
}

func makeLink(p plan, nodes []*netlink.Namespace, c planLink, wires *wires) error {
	end := func(e planEnd) netlink.LinkEnd {
		return netlink.LinkEnd{Namespace: nodes[e.Node], Interface: e.Interface, MAC: e.MAC, MTU: e.MTU}
	}
	cable := netlink.NewVethPair
	if wires.carries(c) {
		cable = func(a, b netlink.LinkEnd) error { return wires.lay(&c, a, b) }
	}
	if err := cable(end(c.Ends[0]), end(c.Ends[1])); err != nil {
		return err
	}
	for _, e := range c.Ends {
		if p.Nodes[e.Node].Switch {
			if err := nodes[e.Node].SetMaster(e.Interface, bridgeName); err != nil {
				return err
			}
		}
		if err := nodes[e.Node].Shape(e.Interface, e.Shape); err != nil {
			return err
		}
	}
	return nil
}

// startAgent runs in the node's namespace. Its stream is its standard input and
// output both.
func startAgent(name string, fd int) error {
	stream := os.NewFile(uintptr(fd), name)
	cmd := program("agent", "--stdio", "--node", name, "--journal", "memory")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stream, stream, os.Stderr
	cmd.Env = append(os.Environ(), agentEnvironment...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the agent: %w", err)
	}
	go func() { _ = cmd.Wait() }() // an agent that ends is noticed on the bus
	return stream.Close()
}

// agentEnvironment keeps a host's process small: a lab has many.
var agentEnvironment = []string{"GOGC=200"}

// defaults are the kernel's own values of what a new namespace would otherwise
// copy from the machine (Documentation/networking/ip-sysctl.rst,
// net.core.devconf_inherit_init_net), so that a lab's "kernel defaults" mean the
// same on every machine.
var defaults = []struct{ key, value string }{
	{"net.ipv4.conf.all.arp_ignore", "0"}, {"net.ipv4.conf.default.arp_ignore", "0"},
	{"net.ipv4.conf.all.arp_announce", "0"}, {"net.ipv4.conf.default.arp_announce", "0"},
	{"net.ipv4.conf.all.arp_filter", "0"}, {"net.ipv4.conf.default.arp_filter", "0"},
	{"net.ipv4.conf.all.rp_filter", "0"}, {"net.ipv4.conf.default.rp_filter", "0"},
	{"net.ipv4.conf.all.arp_accept", "0"}, {"net.ipv4.conf.default.arp_accept", "0"},
	{"net.ipv4.conf.all.accept_local", "0"}, {"net.ipv4.conf.default.accept_local", "0"},
	{"net.ipv4.ip_forward", "0"},
}

// ipv6Quiet keeps a node from putting frames of its own on the links.
var ipv6Quiet = []struct{ key, value string }{
	{"net.ipv6.conf.default.accept_ra", "0"},
	{"net.ipv6.conf.default.router_solicitations", "0"},
	// Addresses are given by linerate, once each: nothing to detect.
	{"net.ipv6.conf.default.accept_dad", "0"},
	{"net.ipv6.conf.default.mldv2_unsolicited_report_interval", "600000"},
}

// kernelDefaults runs inside a new namespace, before it has any interface.
func kernelDefaults(n planNode) error {
	var sysctls proc.Sysctls
	for _, d := range defaults {
		if err := sysctls.Write(d.key, d.value); err != nil {
			return err
		}
	}
	if !n.IPv6 {
		for _, conf := range []string{"all", "default"} {
			if err := sysctls.Write("net.ipv6.conf."+conf+".disable_ipv6", "1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	} else {
		for _, q := range ipv6Quiet {
			if err := sysctls.Write(q.key, q.value); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if n.Switch {
		// Bridged frames are not the firewall's business, unless that is studied.
		for _, family := range []string{"iptables", "ip6tables", "arptables"} {
			if err := sysctls.Write("net.bridge.bridge-nf-call-"+family, "0"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
