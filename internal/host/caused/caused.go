// Package caused keeps account of what linerate itself does on this host that counters of the kernel show as
// faults: connections that it resets on purpose, and packets of probes that have no route. Package facts
// subtracts it, so that a measurement or a probe is not reported as a fault of the host.
//
// The account is by network namespace, since the counters are. Processes share it through a file for each
// namespace and user, because doctor may read the counters while another process measures. Files of other users
// but root are ignored. What a process counted in its last moments before SIGKILL is not in it.
package caused

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/netlink"
)

// Lag is how long a process may take to share what it has counted.
const Lag = 100 * time.Millisecond

// mostBytes bounds the file of an account.
const mostBytes = 4 << 10

// Event is something that linerate does.
type Event int

const (
	// Reset: a TCP connection between linerate's programs that one end closes with RST. Which end came first
	// is not known, so the counters of either end have it: an upper bound.
	Reset Event = iota
	// NoRoute: a packet of a probe for which there is no route.
	NoRoute
	// Unaccepted: an attempt to connect that the peer refused or did not answer.
	Unaccepted
	events
)

// counters has the kernel's counters that grow by one with an event (net/ipv4/tcp.c, tcp_minisocks.c, route.c).
var counters = [events][]string{
	Reset:      {"TcpExt.TCPAbortOnData", "Tcp.EstabResets", "Tcp.OutRsts"},
	NoRoute:    {"Ip.OutNoRoutes"},
	Unaccepted: {"Tcp.AttemptFails"},
}

// ledger is the account of one process.
type ledger struct {
	// dir has a directory for each user, linerate-caused-UID, and that a file for each network namespace.
	dir       string
	namespace func() (string, error) // names the network namespace; an error: nothing is shared
	counts    [events]atomic.Int64   // since the process began
	waiting   atomic.Bool            // a flush is due
	tidy      sync.Once

	mu    sync.Mutex
	saved [events]int64 // of counts, in the file
}

var own = &ledger{dir: os.TempDir(), namespace: sync.OnceValues(namespace)}

// Add counts an event.
func Add(e Event) { own.add(e) }

// Flush shares what this process has counted. Call it before the process ends.
func Flush() error { return own.flush() }

// Read returns what the machine's linerate processes have caused in this process's network namespace, by
// counter (netstate.Reading.SNMP). Absent: 0. Other processes' last events are missing for at most Lag.
func Read() map[string]int64 { return own.read() }

func (l *ledger) add(e Event) {
	l.counts[e].Add(1)
	if !l.waiting.Load() && l.waiting.CompareAndSwap(false, true) {
		time.AfterFunc(Lag/2, func() { _ = l.flush() }) // without the file, this process has its own account
	}
}

func (l *ledger) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting.Store(false)
	var more [events]int64
	due := false
	for e := range events {
		more[e] = l.counts[e].Load() - l.saved[e]
		due = due || more[e] != 0
	}
	if !due {
		return nil
	}
	name, err := l.namespace()
	if err == nil {
		err = l.save(name, more)
	}
	if err != nil {
		return fmt.Errorf("share what linerate caused: %w", err)
	}
	for e := range events {
		l.saved[e] += more[e]
	}
	return nil
}

// of returns the directory of a user's account.
func (l *ledger) of(user int) string {
	return filepath.Join(l.dir, fmt.Sprintf("linerate-caused-%d", user))
}

// save adds to this user's file of a namespace.
func (l *ledger) save(name string, more [events]int64) error {
	dir, err := file.OpenOwn(l.of(os.Geteuid()))
	if err != nil {
		return err
	}
	defer dir.Close()
	l.tidy.Do(func() {
		dir.RemoveOld(keep, mostEntries, func(name string) bool { return strings.HasPrefix(name, first) })
	})
	f, err := dir.Create(name, mostBytes)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := file.Lock(f); err != nil {
		return err
	}
	counts := decode(f)
	for e, n := range more {
		for _, counter := range counters[e] {
			counts[counter] += n
		}
	}
	text, err := json.Marshal(counts)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	return err
}

// decode reads the counts of a file. A file that is no account has none.
func decode(r io.Reader) map[string]int64 {
	counts, read := map[string]int64{}, map[string]int64{}
	if json.NewDecoder(io.LimitReader(r, mostBytes)).Decode(&read) != nil {
		return counts
	}
	for _, list := range counters {
		for _, name := range list {
			if n := read[name]; n > 0 {
				counts[name] = n
			}
		}
	}
	return counts
}

func (l *ledger) read() map[string]int64 {
	_ = l.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := map[string]int64{}
	for e := range events { // what could not be saved
		for _, counter := range counters[e] {
			if n := l.counts[e].Load() - l.saved[e]; n > 0 {
				sum[counter] += n
			}
		}
	}
	name, err := l.namespace()
	if err != nil {
		return sum
	}
	users := []int{0, os.Geteuid()}
	for _, user := range slices.Compact(users) {
		dir, err := file.OpenOf(l.of(user), user)
		if err != nil {
			continue
		}
		f, err := dir.Open(name, mostBytes)
		dir.Close()
		if err != nil {
			continue // there is none
		}
		for counter, n := range decode(f) {
			sum[counter] += n
		}
		f.Close()
	}
	return sum
}

// first is the name of the machine's first network namespace.
const first = "first"

// namespace names the network namespace of the process. It must be called once, on any thread.
func namespace() (string, error) {
	if is, err := netlink.First(); err == nil && is {
		return first, nil
	}
	ns, err := netlink.CurrentNetNS()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d-%d", ns.Inode, ns.Cookie), nil
}

// Files of other namespaces than the machine's first, which have probably ended, are removed when they are older than
// keep, of at most mostEntries at a time.
const (
	keep        = 24 * time.Hour
	mostEntries = 4096
)
