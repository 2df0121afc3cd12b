package apply

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/setting"
)

// TestDefaultsAreRemade: a default qdisc is replaced only if the kernel would make the same
// again, by what net.core.default_qdisc says now.
func TestDefaultsAreRemade(t *testing.T) {
	const root = 0xffffffff
	mq := func(kinds ...string) []netlink.Qdisc {
		list := []netlink.Qdisc{{Kind: "mq", Parent: root}, {Kind: "clsact", Parent: 0xfffffff1, Handle: 0xffff0000}}
		for i, kind := range kinds {
			list = append(list, netlink.Qdisc{Kind: kind, Parent: uint32(i + 1)})
		}
		return list
	}
	for name, c := range map[string]struct {
		list    []netlink.Qdisc
		sysctl  string // empty: it cannot be read
		refused bool
	}{
		"the same":               {[]netlink.Qdisc{{Kind: "fq_codel", Parent: root}}, "fq_codel", false},
		"another":                {[]netlink.Qdisc{{Kind: "fq_codel", Parent: root}}, "fq", true},
		"not known":              {[]netlink.Qdisc{{Kind: "fq_codel", Parent: root}}, "", false},
		"without a queue":        {[]netlink.Qdisc{{Kind: "noqueue", Parent: root}}, "fq", false},
		"never up":               {nil, "fq", false},
		"queues, the same":       {mq("fq", "fq"), "fq", false},
		"queues, another":        {mq("fq_codel", "fq_codel"), "fq", true},
		"queues, one of another": {mq("fq", "pfifo_fast"), "fq", true},
		"the queue of a lab's link": {[]netlink.Qdisc{{Kind: "tbf", Parent: root, Handle: netlink.LinkHandle}},
			"fq", false},
	} {
		dir := t.TempDir()
		if c.sysctl != "" {
			file := filepath.Join(dir, "net/core/default_qdisc")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(c.sysctl+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		q := &qdisc{baseTarget{host: host{sysctls: proc.Sysctls{Root: dir}}},
			setting.Qdisc{Interface: "eth0", Kind: "cake"}}
		err := q.restorable(State{Text: "default"}, 0, c.list)
		if (err != nil) != c.refused || c.refused &&
			!strings.Contains(err.Error(), "the kernel would make fq, since net.core.default_qdisc has changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
