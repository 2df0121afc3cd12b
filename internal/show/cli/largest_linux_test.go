package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/science/sciencetest"
)

// Bounds of commands: memory in bytes of those that compute from documents and of completion, and how many times as
// long a document of twice the size may take.
const (
	mostComputed  = 512 << 20
	mostCompleted = 128 << 20
	doubled       = 2.3
)

// TestLargestDocuments: a document from anybody takes a command time in proportion to its size, and bounded memory.
func TestLargestDocuments(t *testing.T) {
	kerneltest.Long(t)
	for name, c := range map[string]largest{
		"doctor, snapshot": {manyInterfaces, 4000, []string{"doctor", "a.json"}, mostComputed},
		"doctor, two":      {manyInterfaces, 4000, []string{"doctor", "a.json", "b.json"}, mostComputed},
		"diff":             {manyInterfaces, 4000, []string{"diff", "a.json", "b.json"}, mostComputed},
		"doctor, log":      {manyLines, 100_000, []string{"doctor", "log.txt"}, mostComputed},
		"check":            {manyHosts, 1500, []string{"check", "study.yaml"}, mostComputed},
		"tune --lint":      {manyLines, 2500, []string{"tune", "--lint", "sysctl.conf"}, mostComputed},
		"report":           {manyTrials, 40, []string{"report", "latest", "--json"}, mostComputed},
		"export":           {manyTrials, 40, []string{"export", "latest"}, mostComputed},
		"compare":          {manyTrials, 40, []string{"compare", "arp-flux-7", "arp-flux-8", "--json"}, mostComputed},
		"completion":       {manyHosts, 1500, []string{"__completeNoDesc", "run", "study.yaml", "--set", ""}, mostCompleted},
	} {
		t.Run(name, c.test)
	}
}

// TestLargestCaptures: replay does the same with one whose frames are all sent, and received.
func TestLargestCaptures(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth1")
		kerneltest.Do(t, "ip", "link", "set", "eth0", "up")
		kerneltest.Do(t, "ip", "link", "set", "eth1", "up")
		words := []string{"replay", "frames.pcap", "--interface", "eth0", "--speed", "max", "--quiet"}
		t.Run("sent", largest{manyFrames, 300_000, words, mostComputed}.test)
		t.Run("received", largest{manyFrames, 100_000, append(words, "--receive", "eth1"), mostComputed}.test)
	})
}

// largest is a command for a document with n of something, for one with twice as much, and its bound of memory.
type largest struct {
	make  func(t *testing.T, dir string, n int)
	n     int
	words []string
	most  int64
}

func (c largest) test(t *testing.T) {
	statuses := map[int]bool{}
	run := func(n int) (cpu time.Duration, memory int64) {
		dir := t.TempDir()
		c.make(t, dir, n)
		for range 2 {
			cmd := command(t, t.Context(), dir, c.words...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			stop := watchMemory(cmd.Process.Pid, &memory)
			_ = cmd.Wait()
			stop()
			statuses[cmd.ProcessState.ExitCode()] = true
			if out.Len() == 0 || len(statuses) > 1 || statuses[ExitUsage] ||
				strings.Contains(out.String(), "goroutine ") {
				t.Fatalf("%s: %.2000s", cmd, out.String())
			}
			if took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); cpu == 0 || took < cpu {
				cpu = took
			}
		}
		return cpu, memory
	}
	small, _ := run(c.n)
	large, memory := run(2 * c.n)
	t.Logf("%v and %v for twice as much; %d MiB; status %v", small, large, memory>>20, statuses)
	if memory > c.most {
		t.Errorf("%d MiB, want at most %d", memory>>20, c.most>>20)
	}
	if float64(large) > doubled*float64(small) {
		t.Errorf("%v for twice as much as takes %v", large, small)
	}
}

// watchMemory keeps the peak of a process's memory (VmHWM in proc_pid_status(5)) until stop is called. That of
// getrusage(2) includes what the process was forked from.
func watchMemory(pid int, most *int64) (stop func()) {
	var watching sync.WaitGroup
	ended := make(chan struct{})
	watching.Go(func() {
		for {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, rest, _ := strings.Cut(string(text), "VmHWM:")
			kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			n, _ := strconv.ParseInt(kib, 10, 64)
			*most = max(*most, n<<10)
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return func() { close(ended); watching.Wait() }
}

// manyInterfaces writes two snapshots of this host with n of whatever it has in lists.
func manyInterfaces(t *testing.T, dir string, n int) {
	out, err := command(t, t.Context(), dir, "snapshot", "--over", "200ms").Output()
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(out, &tree); err != nil {
		t.Fatal(err)
	}
	for _, mtu := range []float64{1500, 1400} {
		text, err := json.Marshal(multiplied(tree, n, mtu))
		if err == nil {
			name := map[float64]string{1500: "a.json", 1400: "b.json"}[mtu]
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// multiplied returns a document with n elements in each list of objects with an interface.
func multiplied(v any, n int, mtu float64) any {
	switch v := v.(type) {
	case map[string]any:
		all := map[string]any{}
		for key, inner := range v {
			all[key] = multiplied(inner, n, mtu)
		}
		if _, has := v["mtu"]; has {
			all["mtu"] = mtu
		}
		return all
	case []any:
		if len(v) == 0 {
			return v
		}
		first, is := v[0].(map[string]any)
		if !is || first["interface"] == nil {
			return v
		}
		list := make([]any, n)
		for i := range list {
			element := multiplied(v[i%len(v)], 0, mtu).(map[string]any)
			element["interface"] = fmt.Sprint("e", i)
			if element["address"] != nil {
				element["address"] = fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)
			}
			list[i] = element
		}
		return list
	}
	return v
}

// manyLines writes a log and a list of parameters.
func manyLines(t *testing.T, dir string, n int) {
	var log, list strings.Builder
	for i := range n {
		fmt.Fprintf(&log, "[%5d.%06d] e1000e 0000:00:1f.6 eth%d: NIC Link is Up 1000 Mbps Full Duplex\n", i/1000, i, i%7)
		fmt.Fprintf(&list, "net.ipv4.neigh.eth%d.gc_stale_time = %d # for no reason\n", i, i)
	}
	for name, text := range map[string]string{"log.txt": log.String(), "sysctl.conf": list.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// manyHosts writes a study of a switch with n clients of a server.
func manyHosts(t *testing.T, dir string, n int) {
	var hosts, links strings.Builder
	for i := range n {
		fmt.Fprintf(&hosts, "    c%d: {interfaces: {eth0: {addresses: [10.1.%d.%d/16]}}}\n", i, i/250, 1+i%250)
		fmt.Fprintf(&links, "    - {from: c%d, to: sw, rate: 1gbit}\n", i)
	}
	text := "study: many\nquestion: Is it read?\ntopology:\n  hosts:\n    server: {interfaces: {eth0: {addresses: " +
		"[10.1.255.1/16]}}}\n" + hosts.String() + "  switches: {sw: {}}\n  links:\n    - {from: server, to: sw, rate: " +
		"1gbit}\n" + links.String() + "workload:\n  flows:\n    - {from: c0, to: server}\n"
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// manyTrials writes a notebook with two runs of n blocks.
func manyTrials(t *testing.T, dir string, n int) {
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "notebook.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, seed := range []uint64{7, 8} {
		kept := sciencetest.Run(seed, n)
		kept.ID = notebook.ProposeID(kept.Study, seed)
		if err := store.Begin(t.Context(), kept); err != nil {
			t.Fatal(err)
		}
		for _, trial := range kept.Trials {
			if err := store.SaveTrial(t.Context(), kept.ID, trial); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// manyFrames writes a capture of small frames.
func manyFrames(t *testing.T, dir string, n int) {
	text := binary.LittleEndian.AppendUint32(nil, 0xa1b2c3d4)
	text = binary.LittleEndian.AppendUint32(text, 2|4<<16)
	text = append(text, make([]byte, 8)...)
	text = binary.LittleEndian.AppendUint32(text, 65535)
	text = binary.LittleEndian.AppendUint32(text, 1) // Ethernet
	for i := range n {
		text = binary.LittleEndian.AppendUint32(text, uint32(i/1000))
		text = binary.LittleEndian.AppendUint32(text, uint32(i%1000*1000))
		text = binary.LittleEndian.AppendUint32(text, 60)
		text = binary.LittleEndian.AppendUint32(text, 60)
		text = append(text, make([]byte, 60)...)
	}
	if err := os.WriteFile(filepath.Join(dir, "frames.pcap"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}
