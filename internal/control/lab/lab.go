package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/kernel"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/version"
)

// Options of Up. The zero value is what a run uses.
type Options struct {
	// Name opens a door for `lab exec` and `lab shell` under this name.
	Name string
	// Agent is the program that real hosts run; empty: this one.
	Agent string
	// AllowMachine permits machine-wide settings in the topology.
	AllowMachine bool
}

// Lab is a topology with an agent on every host and switch that can be asked.
type Lab struct {
	topology *topology.Topology
	bus      *bus.Bus
	options  Options
	keeper   *keeperProcess
	remotes  []*remote
	rootless bool

	mu     sync.Mutex
	hellos map[string]record.Hello
	came   chan struct{}
}

// readyTimeout bounds the wait for all agents: slow machines with hundreds of
// hosts need seconds, a real host behind ssh as well.
const readyTimeout = 60 * time.Second

// Up makes what has to be made, reaches the rest, and configures all hosts.
// When it fails, nothing is left.
func Up(ctx context.Context, t *topology.Topology, b *bus.Bus, options Options) (_ *Lab, err error) {
	l := &Lab{topology: t, bus: b, options: options, hellos: map[string]record.Hello{}, came: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			l.Down()
		}
	}()
	if err := b.Hellos(l.arrived); err != nil {
		return nil, err
	}
	p := planOf(t)
	if len(p.Nodes) > 0 {
		if err := l.startKeeper(p); err != nil {
			return nil, err
		}
	}
	if err := l.reachRemotes(); err != nil {
		return nil, err
	}
	if err := l.awaitAll(ctx); err != nil {
		return nil, err
	}
	if err := l.configure(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Lab) arrived(node string, data []byte) {
	var hello record.Hello
	if json.Unmarshal(data, &hello) != nil {
		return
	}
	l.mu.Lock()
	l.hellos[node] = hello
	l.mu.Unlock()
	select {
	case l.came <- struct{}{}:
	default:
	}
}

// Nodes are the names of all hosts and switches that have an agent, hosts
// first, in the order of the file.
func (l *Lab) Nodes() []string {
	var names []string
	for _, h := range l.topology.Hosts {
		names = append(names, h.Name)
	}
	for _, s := range l.topology.Switches {
		if !s.Unmanaged {
			names = append(names, s.Name)
		}
	}
	return names
}

// Hello is what a node's agent said when it came up.
func (l *Lab) Hello(node string) record.Hello {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hellos[node]
}

// Mode says how the hosts came about: "lab as root", "lab, rootless", "real
// hosts", or both.
func (l *Lab) Mode() string {
	var modes []string
	if l.keeper != nil {
		if l.rootless {
			modes = append(modes, "lab, rootless")
		} else {
			modes = append(modes, "lab as root")
		}
	}
	if len(l.remotes) > 0 {
		modes = append(modes, "real hosts")
	}
	return strings.Join(modes, " with ")
}

func (l *Lab) awaitAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		var missing []string
		l.mu.Lock()
		for _, name := range l.Nodes() {
			if _, here := l.hellos[name]; !here {
				missing = append(missing, name)
			}
		}
		l.mu.Unlock()
		if len(missing) == 0 {
			return l.sameVersions()
		}
		select {
		case <-l.came:
		case <-l.firstLoss(missing):
			return fmt.Errorf("the agent of %s ended before it said hello%s", missing[0], l.remoteWords(missing[0]))
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("no word from the agent of %s within %v%s", strings.Join(missing, ", "), readyTimeout, l.remoteWords(missing[0]))
			}
			return context.Cause(ctx)
		}
	}
}

// firstLoss is the loss of the first missing node: real hosts fail one by one,
// and the first one's words are what the user needs.
func (l *Lab) firstLoss(missing []string) <-chan struct{} { return l.bus.Lost(missing[0]) }

func (l *Lab) sameVersions() error {
	for _, name := range l.Nodes() {
		if v := l.Hello(name).Version; v != version.String() {
			return fmt.Errorf("%s runs linerate %s, and this is %s: install the same program there", name, v, version.String())
		}
	}
	return nil
}

// Down ends the lab. Real hosts' agents revert their settings when their stream
// ends; they are given time to.
func (l *Lab) Down() {
	var ending sync.WaitGroup
	for _, r := range l.remotes {
		ending.Go(r.end)
	}
	if l.keeper != nil {
		l.keeper.end()
	}
	ending.Wait()
}

// keeperProcess is the keeper as its conductor sees it.
type keeperProcess struct {
	control net.Conn
	ended   chan error
}

func (k *keeperProcess) end() {
	k.control.Close()
	<-k.ended
}

// startKeeper starts the lab's first process, with its own user namespace where
// root is not to be had, and waits until all is cabled.
func (l *Lab) startKeeper(p plan) error {
	// Root in a container may lack CAP_SYS_ADMIN, and then is like anyone else.
	tries := []bool{true}
	if os.Geteuid() == 0 {
		tries = []bool{false, true}
	}
	var errs []error
	for _, rootless := range tries {
		err := l.tryKeeper(p, rootless)
		if err == nil {
			l.rootless = rootless
			return nil
		}
		errs = append(errs, err)
		if !errors.Is(err, os.ErrPermission) {
			break
		}
	}
	err := errors.Join(errs...)
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("making a lab: %w (it needs root, or user namespaces for ordinary users: sysctl user.max_user_namespaces above 0, and kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0 where those exist)", err)
	}
	return fmt.Errorf("making a lab: %w", err)
}

func (l *Lab) tryKeeper(p plan, rootless bool) error {
	near, far, err := kernel.SocketPair()
	if err != nil {
		return err
	}
	files := []*os.File{far}
	var streams []net.Conn
	fail := func(err error) error {
		near.Close()
		for _, f := range files {
			f.Close()
		}
		for _, s := range streams {
			s.Close()
		}
		return err
	}
	door, err := openDoor(l.options.Name)
	if err != nil {
		return fail(err)
	}
	files = append(files, door)
	for range p.Nodes {
		ours, theirs, err := kernel.SocketPair()
		if err != nil {
			return fail(err)
		}
		files = append(files, theirs)
		stream, err := fileConn(ours)
		if err != nil {
			return fail(err)
		}
		streams = append(streams, stream)
	}
	control, err := fileConn(near)
	if err != nil {
		return fail(err)
	}
	k := &keeperProcess{control: control, ended: make(chan error, 1)}
	if err := k.start(files, rootless); err != nil {
		return fail(err)
	}
	for _, f := range files {
		f.Close()
	}
	for i, n := range p.Nodes {
		if err := l.bus.Attach(n.Name, streams[i]); err != nil {
			k.end()
			return err
		}
	}
	var reply keeperReply
	err = json.NewEncoder(control).Encode(p)
	if err == nil {
		err = json.NewDecoder(control).Decode(&reply)
	}
	switch {
	case err != nil:
		k.control.Close()
		return fmt.Errorf("the lab's keeper ended: %w", errors.Join(err, <-k.ended))
	case reply.Error != "":
		k.end()
		return errors.New(reply.Error)
	}
	l.keeper = k
	return nil
}

// start runs the keeper from a thread that stays: the kernel sends the parent's
// death signal when the thread that forked ends (prctl(2), PR_SET_PDEATHSIG).
func (k *keeperProcess) start(files []*os.File, rootless bool) error {
	started := make(chan error)
	go func() {
		cmd := program("lab", "keeper")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, os.Stderr, os.Stderr
		cmd.ExtraFiles = files
		cmd.SysProcAttr = keeperAttributes(rootless)
		lockThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			k.ended <- cmd.Wait()
		}
	}()
	return <-started
}

func fileConn(f *os.File) (net.Conn, error) {
	defer f.Close()
	return net.FileConn(f)
}

// reachRemotes starts an agent behind each host's `via`.
func (l *Lab) reachRemotes() error {
	type target struct {
		name  string
		via   []string
		agent string
	}
	var targets []target
	for _, h := range l.topology.Hosts {
		if len(h.Via) > 0 {
			targets = append(targets, target{h.Name, h.Via, h.Agent})
		}
	}
	for _, s := range l.topology.Switches {
		if len(s.Via) > 0 {
			targets = append(targets, target{s.Name, s.Via, s.Agent})
		}
	}
	for _, t := range targets {
		agent := t.agent
		if agent == "" {
			agent = l.options.Agent
		}
		if agent == "" {
			own, err := os.Executable()
			if err != nil {
				return err
			}
			agent = agentProgram(t.via, own)
		}
		r, err := reach(t.name, slices.Concat(t.via, []string{agent, "agent", "--stdio", "--node", t.name}))
		if err != nil {
			return fmt.Errorf("reaching %s: %w", t.name, err)
		}
		l.remotes = append(l.remotes, r)
		if err := l.bus.Attach(t.name, bus.Pipes(r.out, r.in)); err != nil {
			return err
		}
	}
	return nil
}

// agentProgram is this very file for prefixes that stay on this machine, and
// whatever "linerate" is found on the far side otherwise.
func agentProgram(via []string, own string) string {
	if slices.Contains([]string{"ip", "nsenter", "unshare", "sudo", "doas", "setpriv", "env", "chroot"}, baseName(via[0])) {
		return own
	}
	return "linerate"
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Hosts are the names of all hosts.
func (l *Lab) Hosts() []string { return l.Nodes()[:len(l.topology.Hosts)] }
