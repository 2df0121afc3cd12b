//go:build linux && !portable

package apply

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/message"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// TestNexthopObjects: objects, groups of both kinds and routes by them are made as
// ip-nexthop(8) would, changed in place, and gone or as before after the undo.
func TestNexthopObjects(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		for _, words := range []string{
			"nexthop add id 40 via 10.1.0.9 dev eth0", "nexthop add id 41 via 10.2.0.9 dev eth1",
			"nexthop add id 42 group 40,3/41 type resilient buckets 16 idle_timer 7",
			"nexthop add id 43 group 40/41 type resilient buckets 16 idle_timer 0",
			"route add 10.70.0.0/16 nhid 42",
		} {
			kerneltest.Do(t, "ip", strings.Fields(words)...)
		}
		look := func() string {
			// How long a group has been out of balance is no part of its state.
			text := kerneltest.Do(t, "ip", "nexthop") + kerneltest.Do(t, "ip", "route")
			var kept []string
			for _, word := range strings.Fields(text) {
				if len(kept) > 0 && kept[len(kept)-1] == "unbalanced_time" {
					word = "…"
				}
				kept = append(kept, word)
			}
			return strings.Join(kept, " ")
		}
		before := look()
		m := open(t, "")
		second := unit.Duration(time.Second)
		_, mark, err := applySettings(m, t.Context(), []setting.Setting{
			{Nexthop: &setting.NexthopObject{ID: 1, Via: "10.1.0.9", Interface: "eth0"}},
			{Nexthop: &setting.NexthopObject{ID: 2, Via: "inet6 fe80::1", Interface: "eth1"}},
			{Nexthop: &setting.NexthopObject{ID: 10, Group: []setting.Member{{ID: 1, Weight: 3}, {ID: 2}}}},
			{Nexthop: &setting.NexthopObject{ID: 11, Group: []setting.Member{{ID: 1}, {ID: 2}},
				Resilient: &setting.Resilient{Buckets: 64, IdleTimer: 2 * second, UnbalancedTimer: 60 * second}}},
			{Route: &setting.Route{To: "10.71.0.0/16", Object: 10}},
			{Route: &setting.Route{To: "10.72.0.0/16", Object: 11}},
			{Route: &setting.Route{To: "10.73.0.0/16", Object: 1}},
			{Route: &setting.Route{To: "10.70.0.0/16", Object: 1}},
			{Nexthop: &setting.NexthopObject{ID: 42, Group: []setting.Member{{ID: 41}}, Resilient: &setting.Resilient{
				Buckets: 16, IdleTimer: 7 * second}}},
			{Nexthop: &setting.NexthopObject{ID: 41, Via: "10.2.0.8", Interface: "eth1"}},
			{Nexthop: &setting.NexthopObject{ID: 43, Group: []setting.Member{{ID: 41}}, Resilient: &setting.Resilient{
				Buckets: 16, IdleTimer: 7 * second}}},
			{Nexthop: &setting.NexthopObject{ID: 11, Group: []setting.Member{{ID: 1}, {ID: 2, Weight: 2}}}},
		}, false)
		if err != nil {
			t.Fatal(err)
		}
		during := look()
		for _, want := range []string{
			"id 10 group 1,3/2", "id 11 group 1/2,2 type resilient buckets 64 idle_timer 2 unbalanced_timer 60",
			"10.71.0.0/16 nhid 10", "via inet6 fe80::1 dev eth1 weight 1", "10.72.0.0/16 nhid 11",
			"10.73.0.0/16 nhid 1 via 10.1.0.9 dev eth0", "10.70.0.0/16 nhid 1 ", "id 42 group 41 ",
			"id 41 via 10.2.0.8 dev eth1", "id 43 group 41 ",
		} {
			if !strings.Contains(during, want) {
				t.Errorf("no %q in\n%s", want, during)
			}
		}
		if err := m.RevertTo(mark); err != nil {
			t.Fatal(err)
		}
		if after := look(); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
		if _, _, err := applySettings(m, t.Context(),
			[]setting.Setting{{Route: &setting.Route{To: "10.74.0.0/16", Object: 99}}}, false); err == nil ||
			!strings.Contains(err.Error(), "99") {
			t.Errorf("a route by an object that is not there: %v", err)
		}
	})
}

// TestNexthopObjectsComeBack: the kernel drops nexthop objects with their interface, or
// with its carrier, and with them members of groups and routes.
func TestNexthopObjectsComeBack(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		for _, words := range []string{
			"nexthop add id 7 via 10.2.0.9 dev eth1", "nexthop add id 8 via 10.1.0.9 dev eth0",
			"nexthop add id 9 group 7/8,2",
			"nexthop add id 10 group 7/8 type resilient buckets 16 idle_timer 9", "nexthop add id 11 group 7",
			"route add 10.99.0.0/16 nhid 7", "route add 10.98.0.0/16 nhid 9", "route add 10.97.0.0/16 nhid 10",
			"route add 10.96.0.0/16 nhid 11",
		} {
			kerneltest.Do(t, "ip", strings.Fields(words)...)
		}
		m := open(t, "")
		all := func() string { return kerneltest.Do(t, "ip", "-o", "nexthop", "show", "id", "7") + look(t) }
		before := all()
		groups := func() string {
			text := ""
			for _, id := range []string{"9", "10", "11"} {
				line, _, _ := strings.Cut(kerneltest.Do(t, "ip", "nexthop", "show", "id", id), " unbalanced_time 0")
				text += line
			}
			return text
		}
		grouped := groups()
		down := func(port string) int {
			t.Helper()
			_, mark, err := applySettings(m, context.Background(),
				[]setting.Setting{{Link: &setting.Link{Interface: port, Up: up(false)}}}, false)
			if err != nil {
				t.Fatalf("taking %s down: %v", port, err)
			}
			return mark
		}
		check := func(what string) {
			t.Helper()
			differ := ""
			await(func() bool { // addresses follow the carrier
				differ = differences(before, all())
				return differ == ""
			})
			if differ != "" {
				t.Errorf("%s: not as before:\n%s", what, differ)
			}
			if now := groups(); now != grouped {
				t.Errorf("%s: groups are\n%s, were\n%s", what, now, grouped)
			}
		}
		for _, port := range []string{"eth1", "eth0"} {
			if err := m.RevertTo(down(port)); err != nil {
				t.Error(err)
			}
			check(port + " down")
		}
		// The other end of eth1's cable goes down, by another program, after
		// changes that need what goes with it, or go with it. The agent that made them
		// undoes them, or, where it was killed, recovery.
		path := filepath.Join(t.TempDir(), "journal")
		journaled, err := Open(path, Lease)
		if err != nil {
			t.Fatal(err)
		}
		undo := func(m *Manager, mark int) error {
			if m != journaled {
				return m.RevertTo(mark)
			}
			if err := m.Close(); err != nil { // as the kernel closes what was killed
				return err
			}
			list, err := Recover(RecoverOptions{Journal: path})
			for _, r := range list {
				if r.Result == Kept {
					err = errors.Join(err, fmt.Errorf("%+v", r))
				}
			}
			return err
		}
		for what, m := range map[string]*Manager{"no carrier": m, "no carrier, and recovered": journaled} {
			held, err := m.Hold(t.Context(), message.HoldRequest{Interfaces: []string{"eth1", "top0"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := applySettings(m, context.Background(), []setting.Setting{
				{Nexthop: &setting.NexthopObject{ID: 9, Group: []setting.Member{{ID: 8}}}},
				{Nexthop: &setting.NexthopObject{ID: 12, Group: []setting.Member{{ID: 7}, {ID: 8}}}},
				{Route: &setting.Route{To: "10.99.0.0/16", Interface: "eth0"}},
				{Route: &setting.Route{To: "10.98.0.0/16", Object: 7}},
				{Route: &setting.Route{To: "10.96.0.0/16", Object: 12}},
			}, false); err != nil {
				t.Fatal(err)
			}
			kerneltest.Do(t, "ip", "link", "set", "dev", "far1", "down")
			// The kernel may look at a lost carrier a second later: it limits how often
			// (linkwatch_schedule_work in net/core/link_watch.c).
			text := kerneltest.Do(t, "ip", "nexthop")
			for end := time.Now().Add(5 * time.Second); strings.Contains(text, "id 7 ") &&
				time.Now().Before(end); text = kerneltest.Do(t, "ip", "nexthop") {
				time.Sleep(20 * time.Millisecond)
			}
			if strings.Contains(text, "id 7 ") {
				t.Errorf("the kernel keeps objects without a carrier now: nothing is shown by this:\n%s", text)
			}
			kerneltest.Do(t, "ip", "link", "set", "dev", "far1", "up")
			if err := undo(m, held.Mark); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			check(what)
		}
		// A route that uses one can itself be replaced and put back.
		_, mark, err := applySettings(m, context.Background(),
			[]setting.Setting{{Route: &setting.Route{To: "10.99.0.0/16", Interface: "eth0"}}}, false)
		if err := errors.Join(err, m.RevertTo(mark)); err != nil {
			t.Error(err)
		}
		check("another route")
	})
}
