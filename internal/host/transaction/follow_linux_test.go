//go:build !portable

package transaction

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// TestFollow: both ends of a connection on one machine come to run on the same CPU,
// and afterwards every thread may run where it could before.
func TestFollow(t *testing.T) {
	before := places(t)
	for _, protocol := range flow.Find("threads").Protocols {
		a, r := engine(t), engine(t)
		join(t, a, r, requests(1, message.FlowRequest{Spec: flow.Spec{Protocol: protocol, Follow: new(true)}}))
		window(time.Hour, a, r)
		eventually(t, "both are on one CPU", func() bool {
			asks, found := strings.CutPrefix(a.Read()[0].ModeNote, "asks on ")
			responds, too := strings.CutPrefix(r.Read()[0].ModeNote, "responds on ")
			return found && too && asks == responds
		})
		if bound := places(t); len(bound) < 2 && runtime.NumCPU() > 1 {
			t.Errorf("%s: no thread is bound to a CPU: %v", protocol, bound)
		}
		a.Close()
		r.Close()
	}
	if after := places(t); !maps.Equal(before, after) {
		t.Errorf("threads may run on %v, before on %v", after, before)
	}
}

// places are the CPUs that this process's threads may run on.
func places(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	lists := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(text)) {
			if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				lists[strings.TrimSpace(list)] = true
			}
		}
	}
	return lists
}
