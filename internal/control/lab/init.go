package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"

	"linerate/internal/kernel/attached"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
	"linerate/internal/model/topology"
)

// The descriptors that the init process inherits.
const (
	controlFD  = 3 // receives the plan, sends the reply; end of file: exit
	execFD     = 4 // the listening socket for `lab exec`, or /dev/null
	firstAgent = 5 // one stream per node follows
)

// self is this program, also where /proc belongs to another process namespace and
// after the file has been replaced.
const self = "/proc/self/exe"

// program is this program with other arguments.
func program(args ...string) *exec.Cmd { return programAt(self, args...) }

func programAt(path string, args ...string) *exec.Cmd {
	cmd := proc.Command(path, args...)
	cmd.Args[0] = "linerate"
	return cmd
}

// agentProgram returns the path of the program that agents execute, and a file that must stay open until all are
// started: the program that is attached to this one. If none is, as in a program of go build, or if the kernel
// executes nothing from memory (vm.memfd_noexec), it is this program.
func agentProgram() (path string, _ *os.File) {
	f, err := attached.Open(self)
	if f == nil || err != nil {
		return self, nil
	}
	return attached.Path(f), f
}

type initReply struct {
	Error string `json:"error,omitempty"`
	// NamespaceError: the kernel refused to make namespaces.
	NamespaceError bool `json:"namespace_error,omitempty"`
	// ImpairedBy names what applies delay, loss and marks; empty: no link has any.
	ImpairedBy string `json:"impaired_by,omitempty"`
}

// Init is the first process of a lab (process 1 of its PID namespace). It makes the network
// namespaces and the links, starts an agent in each namespace, and stays until its control
// stream ends. It returns the exit status.
func Init() int {
	control := os.NewFile(controlFD, "control")
	in, out := json.NewDecoder(control), json.NewEncoder(control)
	var p plan
	if err := in.Decode(&p); err != nil {
		return 1
	}
	// A host has as many connections as its kernel allows, not as the user's shell does.
	_ = proc.RaiseOpenFiles() // what it was is enough for most
	// A process that is started here must not inherit the streams of the others: a
	// stream ends with its agent.
	proc.CloseOnExec(controlFD, firstAgent-controlFD+len(p.Nodes))
	nodes, impairedBy, err := build(p)
	if err != nil {
		_ = out.Encode(initReply{Error: err.Error(), NamespaceError: isNamespaceError(err)})
		return 1
	}
	if listener, err := net.FileListener(os.NewFile(execFD, "exec")); err == nil {
		go serveExec(listener, p, nodes)
	}
	if err := out.Encode(initReply{ImpairedBy: impairedBy}); err != nil {
		return 1
	}
	// The conductor sends nothing more: this returns when it ends.
	_, _ = io.Copy(io.Discard, control)
	return 0
}

// build makes the nodes and the links. The agents are started first, so that they
// initialise while the links are made.
func build(p plan) (nodes []*netlink.Namespace, impairedBy string, err error) {
	if err := probeDevices(p); err != nil {
		return nil, "", err
	}
	execute := sync.OnceValues(agentProgram)
	go execute() // while the first namespaces are made
	nodes = make([]*netlink.Namespace, len(p.Nodes))
	errs := make([]error, len(p.Nodes))
	var starting sync.WaitGroup
	for i, n := range p.Nodes {
		ns, err := netlink.NewNamespace(n.Name)
		if err != nil {
			return nil, "", err
		}
		nodes[i] = ns
		starting.Go(func() {
			errs[i] = ns.Do(func() error {
				if err := kernelDefaults(n); err != nil {
					return err
				}
				path, _ := execute()
				return startAgent(path, n.Name, firstAgent+i, p.Key)
			})
		})
	}
	starting.Wait()
	_, file := execute()
	_ = file.Close() // nil: there is none
	for i, err := range errs {
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", p.Nodes[i].Name, err)
		}
	}
	for i, n := range p.Nodes {
		if err := nodes[i].SetUp("lo"); err != nil {
			return nil, "", err
		}
		if n.Switch {
			if err := nodes[i].AddBridge(bridgeName, n.VLANs != nil); err != nil {
				return nil, "", err
			}
		}
	}
	links := linkMaker{plan: p, nodes: nodes, usable: map[topology.Mechanism]error{},
		does: map[topology.Mechanism]topology.Impairment{}}
	// A bridge floods to the port that was added last first. Links made in reverse
	// order let a lab's switch flood in the order of the file.
	for i, l := range slices.Backward(p.Links) {
		if err := links.make(i, l); err != nil {
			return nil, "", err
		}
	}
	if err := makeDevices(p, nodes); err != nil {
		return nil, "", err
	}
	if err := links.startEmulator(); err != nil {
		return nil, "", err
	}
	return nodes, links.impairedBy(), awaitLACP(p, nodes)
}

// startAgent starts a node's agent; it is called in the node's namespace. The stream
// is the agent's standard input and output, and descriptor 3 has its membership of the lab.
func startAgent(path, name string, fd int, key string) error {
	stream := os.NewFile(uintptr(fd), name)
	membership, err := membershipOf(key)
	if err != nil {
		return err
	}
	defer membership.Close()
	cmd := programAt(path, "agent", "--stdio", "--node", name, "--journal", "memory", "--of-lab")
	cmd.ExtraFiles = []*os.File{membership}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stream, stream, os.Stderr
	cmd.Env = append(cmd.Env, agentEnvironment...)
	if oneCPU() {
		cmd.Env = append(cmd.Env, message.CPUsVariable+"=1")
	}
	cmd.SysProcAttr = agentAttributes()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the agent: %w", err)
	}
	go func() { _ = cmd.Wait() }() // the bus notices that it ended
	return stream.Close()
}

// membershipOf is a pipe with the membership of a host whose network namespace is that of the
// calling thread (message.Membership).
func membershipOf(key string) (*os.File, error) {
	ns, err := netlink.CurrentNetNS()
	if err != nil {
		return nil, err
	}
	near, far, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	// A pipe has room for it.
	if err := json.NewEncoder(far).Encode(message.Membership{Key: key, Inode: ns.Inode,
		Cookie: ns.Cookie, OneCPU: oneCPU()}); err != nil {
		near.Close()
		return nil, err
	}
	return near, nil
}

// agentEnvironment keeps a host's process small: a lab has many.
var agentEnvironment = []string{"GOGC=200"}

// oneCPU reports whether agents are started with one CPU, which spares threads and caches of the Go runtime until
// there is traffic. A number of CPUs that the user has set holds for agents, too.
func oneCPU() bool { return os.Getenv(message.CPUsVariable) == "" }

// defaults are the kernel's own values of parameters that a new namespace may copy
// from the machine (net.core.devconf_inherit_init_net,
// Documentation/admin-guide/sysctl/net.rst), so that a lab has the same kernel
// defaults on every machine.
var defaults = map[string]string{
	"net.ipv4.conf.all.arp_ignore": "0", "net.ipv4.conf.default.arp_ignore": "0",
	"net.ipv4.conf.all.arp_announce": "0", "net.ipv4.conf.default.arp_announce": "0",
	"net.ipv4.conf.all.arp_filter": "0", "net.ipv4.conf.default.arp_filter": "0",
	"net.ipv4.conf.all.rp_filter": "0", "net.ipv4.conf.default.rp_filter": "0",
	"net.ipv4.conf.all.arp_accept": "0", "net.ipv4.conf.default.arp_accept": "0",
	"net.ipv4.conf.all.accept_local": "0", "net.ipv4.conf.default.accept_local": "0",
	"net.ipv4.ip_forward": "0",
}

// Parameters that a kernel need not have.
var (
	// ipv6Quiet keep a node from sending frames of its own.
	ipv6Quiet = map[string]string{
		"net.ipv6.conf.default.accept_ra":            "0",
		"net.ipv6.conf.default.router_solicitations": "0",
		// Every address is assigned once: duplicate address detection finds nothing.
		"net.ipv6.conf.default.accept_dad":                        "0",
		"net.ipv6.conf.default.mldv2_unsolicited_report_interval": "600000",
	}
	noIPv6 = map[string]string{"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}
	// noBridgeFilter lets bridged frames bypass the firewall, unless a study sets these.
	noBridgeFilter = map[string]string{
		"net.bridge.bridge-nf-call-iptables": "0", "net.bridge.bridge-nf-call-ip6tables": "0",
		"net.bridge.bridge-nf-call-arptables": "0",
	}
)

// kernelDefaults sets the parameters of a new namespace; it is called inside it, before
// it has any interface but lo.
func kernelDefaults(n planNode) error {
	optional := maps.Clone(noIPv6)
	if n.IPv6 {
		optional = maps.Clone(ipv6Quiet)
	}
	if n.Switch {
		maps.Copy(optional, noBridgeFilter)
	}
	for key, value := range defaults {
		if err := (proc.Sysctls{}).Write(key, value); err != nil {
			return err
		}
	}
	for key, value := range optional {
		if err := (proc.Sysctls{}).Write(key, value); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
