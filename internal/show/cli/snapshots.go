package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/pasted"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
)

// reachTimeout bounds a snapshot of another host beside the time between its readings.
const reachTimeout = time.Minute

// snapshotsOf executes linerate snapshot on hosts, on all at the same time.
func snapshotsOf(ctx context.Context, hosts []reached, over time.Duration, probing probeFlags) (
	[]record.HostSnapshot, error) {
	within := over + reachTimeout + probing.timeout()
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer within %s", within))
	defer cancel()
	list, errs := make([]record.HostSnapshot, len(hosts)), make([]error, len(hosts))
	var all sync.WaitGroup
	for i, h := range hosts {
		all.Go(func() { list[i], errs[i] = h.snapshot(ctx, over, probing.words()) })
	}
	all.Wait()
	return list, errors.Join(errs...)
}

func (h reached) snapshot(ctx context.Context, over time.Duration, flags []string) (snapshot record.HostSnapshot,
	err error) {
	words := append(h.command[1:len(h.command):len(h.command)], programName(h.command[0]), "snapshot", "--over",
		over.String())
	words = append(words, flags...)
	what := strings.Join(append([]string{h.command[0]}, words...), " ")
	cmd := proc.Command(h.command[0], words...)
	out, errs := &proc.FirstBytes{Most: largestSnapshot}, &proc.FirstBytes{Most: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that all of it ends
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return snapshot, fmt.Errorf("%s: %w", what, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = proc.SignalGroup(cmd.Process, syscall.SIGKILL) })
	err = cmd.Wait()
	if !stop() {
		return snapshot, fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	if err != nil {
		if said := strings.TrimSpace(plain.Line(errs.String())); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return snapshot, fmt.Errorf("%s: %w", what, err)
	}
	if snapshot, err = record.ParseHostSnapshot(out.Bytes()); err != nil {
		return snapshot, fmt.Errorf("%s: %w", what, err)
	}
	if h.name != "" {
		snapshot.Reading.Host = h.name
	}
	return snapshot, nil
}

// programName is what is executed behind a command: this program where that stays on this
// machine, as ip(8), nsenter(1) and lab exec do, and otherwise linerate on the host's PATH.
func programName(command string) string {
	self, err := os.Executable()
	switch command[strings.LastIndexByte(command, '/')+1:] {
	case "ip", "nsenter", "unshare", "sudo", "setpriv", "linerate":
		if err == nil {
			return self
		}
	}
	if command == self { // by another name
		return self
	}
	return "linerate"
}

// readSnapshot reads what linerate snapshot has written; "-": in.
func readSnapshot(in io.Reader, file string) (snapshot record.HostSnapshot, err error) {
	text, err := readBounded(in, file, largestSnapshot)
	if errors.Is(err, fs.ErrNotExist) {
		return snapshot, fmt.Errorf("%w: expected a file of linerate snapshot", err)
	}
	if err != nil {
		return snapshot, err
	}
	if snapshot, err = record.ParseHostSnapshot(text); err != nil {
		return snapshot, cmp.Or(notSnapshot(file, text), fmt.Errorf("%s: %w", file, err))
	}
	return snapshot, nil
}

// notSnapshot names the verb or the flag for a file of another kind; nil: it is not known which, or it is a
// snapshot with mistakes.
func notSnapshot(file string, text []byte) error {
	var head struct{ Schema string }
	if json.Unmarshal(text, &head) == nil && head.Schema == record.HostSnapshotSchema {
		return nil
	}
	if err := wrongKind("doctor", file, text); err != nil {
		return err
	}
	if len(text) <= pasted.LargestText {
		if _, err := pasted.Parse(string(text)); err == nil {
			return fmt.Errorf("%s is the output of another tool, not a snapshot: linerate doctor --paste %s", file,
				quote(file))
		}
	}
	return nil
}

// readBounded reads a file or, as "-", in, and at most a byte more than most.
func readBounded(in io.Reader, file string, most int64) ([]byte, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return text, nil
}

// largestSnapshot bounds a document.
const largestSnapshot = record.LargestHostSnapshot

// named gives hosts of one name different ones, as those of network namespaces have.
func named(list []record.HostSnapshot) []record.HostSnapshot {
	seen := map[string]int{}
	for i := range list {
		name := cmp.Or(list[i].Reading.Host, "host")
		seen[name]++
		if n := seen[name]; n > 1 {
			name = fmt.Sprintf("%s#%d", name, n)
		}
		list[i].Reading.Host, list[i].Reading.Snapshot.Host = name, name
	}
	return list
}

// reached is a host on which linerate snapshot is executed.
type reached struct {
	name    string // empty: as it calls itself
	command []string
}

func reachedHosts(hosts, via []string) (list []reached, err error) {
	for _, host := range hosts {
		if host == "" || strings.HasPrefix(host, "-") {
			return nil, fmt.Errorf("--host %q: expected a host for ssh, such as root@nas", host)
		}
		list = append(list, reached{command: []string{"ssh", "-o", "BatchMode=yes", host}})
	}
	for _, text := range via {
		name, command, has := strings.Cut(text, "=")
		if !has || strings.ContainsAny(name, " /") {
			name, command = "", text
		}
		words := strings.Fields(command)
		if len(words) == 0 {
			return nil, fmt.Errorf("--via %q: expected a command, such as 'nas=ip netns exec nas'", text)
		}
		if strings.ContainsAny(command, `"'\\`) {
			return nil,
				fmt.Errorf(
					"--via %q: the command is split at spaces, without a shell; expected no quotes: a script can have them", text)
		}
		list = append(list, reached{name, words})
	}
	return list, nil
}
