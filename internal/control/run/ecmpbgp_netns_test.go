//go:build linux

package run_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// TestECMPBGP: a daemon brings the routes as people's tables have them, and flows go
// as the kernels say by them. When a spine's daemon is killed, its flows and no
// others move to the other spine; before the next trial its routes are there again.
func TestECMPBGP(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.Needs(t, "bird")
	file := controltest.BuiltIn(t, "ecmp-bgp", "rate: 1gbit, mtu: 9000", "rate: 100mbit", "rate_cap: 40mbit",
		"rate_cap: 1500kbit",
		"duration: 3s", "duration: 600ms", "warmup: 300ms", "warmup: 200ms", "at: 1s", "at: 250ms",
		"      nothing:\n        about: all goes on\n", "") // the next level is the baseline then
	run := controltest.Run(t, controltest.Study{File: file, Seed: 5, Replicates: 2, Only: []string{"daemon killed"}})
	controltest.AsPredicted(t, run, 0)
	routing := run.Environment.Routing
	if routing == nil || !strings.HasPrefix(routing.Daemon, "BIRD ") || routing.ConvergedS <= 0 ||
		len(routing.Hosts) != 4 {
		t.Fatalf("the run says of its routes: %+v", routing)
	}
	whole := regexp.MustCompile(
		`^10\.0\.200\.2 proto bird metric 20 nexthop via inet6 fe80::\S+ dev eth0 weight 1 nexthop via inet6 ` +
			`fe80::\S+ dev eth1 weight 1$`)
	if routes := routing.Hosts[0].Routes; len(routes) != 1 || !whole.MatchString(routes[0]) {
		t.Errorf("the routes of server1 are %q", routes)
	}
	for _, trial := range run.Trials {
		if e := trial.Events; len(e) != 1 || e[0].Host != "spine1" || e[0].What != "the BGP daemon is killed" {
			t.Errorf("trial %d: what happened is %+v", trial.Order, e)
		}
		if again := trial.ConvergedS > 0; again != (trial.Order > 1) {
			t.Errorf("trial %d: routes were there again after %g s", trial.Order, trial.ConvergedS)
		}
		if left := learned(trial, "server1"); len(left) != 1 ||
			!strings.HasSuffix(left[0], " dev eth1 proto bird metric 20") {
			t.Errorf("trial %d: the routes of server1 in the end are %q", trial.Order, left)
		}
		for _, f := range trial.Flows {
			if len(f.Outages) != 1 || len(f.Predicted) == 0 {
				t.Errorf("trial %d: flow %s was predicted to go by %v, and has the outages %+v", trial.Order, f.ID,
					f.Predicted, f.Outages)
				continue
			}
			o := f.Outages[0]
			if by := f.Predicted[0] == "server1.eth0"; o.Moved != by || !slices.Contains(o.After, "spine2.down1") {
				t.Errorf("trial %d: flow %s was predicted to leave by %s: %+v", trial.Order, f.ID, f.Predicted[0], o)
			}
		}
	}
}

// learned are a host's routes by the daemon at the end of a trial.
func learned(trial record.Trial, host string) (list []string) {
	for _, h := range trial.Hosts {
		for _, r := range h.Snapshot.Routes {
			if h.Host == host && strings.Contains(r.Text, "proto bird") {
				list = append(list, r.Text)
			}
		}
	}
	return list
}
