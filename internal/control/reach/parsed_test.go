package reach

import (
	"strings"
	"testing"
)

// FuzzParsed: whatever a host prints for PlainScript and on standard error is text or an error.
func FuzzParsed(f *testing.F) {
	for _, out := range []string{"", "\n", "\x00", "$ ip link\n", "nas$ ip addr\n1: lo: <LOOPBACK> mtu 65536\n",
		"a# hostname\nb\nc# ip link\n2: eth0: <UP> mtu 1500\n", strings.Repeat("$ ", 100)} {
		f.Add(out, "missing: ethtool\nmissing: \x1b[2J\n")
	}
	f.Fuzz(func(t *testing.T, out, said string) {
		p, err := Host{Name: "nas", Called: "nas"}.parsed(out, said)
		if err != nil {
			return
		}
		if p.Snapshot.Host.Host != "nas" {
			t.Errorf("a host is called %q", p.Snapshot.Host.Host)
		}
		for _, tool := range p.Missing {
			if strings.ContainsAny(tool, "\x1b\n\r\x07") || len(tool) > 100 {
				t.Errorf("a tool is called %q", tool)
			}
		}
	})
}
