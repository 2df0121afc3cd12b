//go:build linux && !portable

package hoststate

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
)

// TestParts: each part of a snapshot says when it was read; bridges are in it, and the lines
// that the kernel wrote about them are in its log, or why there is none.
func TestParts(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "name", "partbr0", "type", "bridge")
		kerneltest.Do(t, "ip", "link", "add", "name", "partd0", "type", "veth", "peer", "name", "partd1")
		kerneltest.Do(t, "ip", "link", "set", "dev", "partd0", "master", "partbr0")
		kerneltest.Do(t, "sh", "-c",
			"ip link set dev lo up && ip address add 192.0.2.1/24 dev partd1 && ip link set dev partd0 up && ip "+
				"link set dev partd1 up && ip nexthop add id 7 via 192.0.2.9 dev partd1 && ip nexthop add id 8 "+
				"blackhole && ip nexthop add id 9 group 7,3")
		s, err := Read(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		for _, p := range s.State.Parts {
			if p.BeganNs < last || p.EndedNs < p.BeganNs {
				t.Errorf("%+v began before the part before it ended", p)
			}
			last = p.EndedNs
		}
		if b := s.State.Bridges; len(b) != 1 || b[0].Interface != "partbr0" ||
			!slices.ContainsFunc(b[0].Ports, func(p netstate.BridgePort) bool { return p.Interface == "partd0" }) {
			t.Errorf("%+v", b)
		}
		if want := []netstate.Nexthop{{ID: 7, Interface: "partd1", Via: "192.0.2.9"},
			{ID: 8, Flags: []string{"blackhole"}},
			{ID: 9, Group: []netstate.NexthopMember{{ID: 7, Weight: 3}}}}; !reflect.DeepEqual(s.State.Nexthops, want) {
			t.Errorf("%+v, want %+v", s.State.Nexthops, want)
		}
		i := slices.IndexFunc(s.State.Parts, func(p netstate.StatePart) bool { return p.Part == "kernel log" })
		if i < 0 || (s.State.Parts[i].Missing == "") == (s.State.Log == nil) {
			t.Fatalf("log %+v, parts %+v", s.State.Log, s.State.Parts)
		}
		if s.State.Log != nil && !slices.ContainsFunc(s.State.Log.Lines, func(l netstate.LogLine) bool {
			return strings.Contains(l.Text, "partd0")
		}) {
			t.Errorf("no line about partd0 in %+v", s.State.Log)
		}
	})
}
