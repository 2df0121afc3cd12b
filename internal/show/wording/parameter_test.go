package wording

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/netstate"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestNotApplied: the files are not the first advice where one has a parameter that programs set
// while they run, also below the rows that are shown.
func TestNotApplied(t *testing.T) {
	for _, key := range []string{"net.core.somaxconn", "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding",
		"net.ipv4.conf.eth0/7.rp_filter"} {
		s := diagnosetest.HostNamed("nas", 15)
		add := func(key string) {
			s.State.Parameters[key] = "1"
			s.State.Files = append(s.State.Files, netstate.ParameterLine{File: "/etc/sysctl.conf",
				Line: len(s.State.Files) + 1, Key: key, Value: "0"})
		}
		for i := range 6 {
			add(fmt.Sprint("net.example.", i))
		}
		add(key)
		list := diagnosetest.FoundBy(Evaluation(diagnose.Hosts([]netstate.HostSnapshot{s})), "parameter-not-applied")
		if len(list) != 1 || len(list[0].Evidence) != 6 {
			t.Errorf("%s: %+v", key, list)
			continue
		}
		first, others := list[0].Fix[0], key != "net.core.somaxconn"
		if strings.Contains(first, "sysctl --system") == others || strings.Contains(first, key) != others {
			t.Errorf("%s: %q", key, list[0].Fix)
		}
	}
}
