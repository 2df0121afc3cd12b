//go:build linux && !portable

package hoststate

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
)

// TestNames: an interface whose name is a command is not in the snapshot, which says so; others with rare names are.
func TestNames(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		names := []string{"eth0.100", "br-größe", "tun#1", "a@b"}
		for _, name := range append(names, "a;reboot", "$(reboot)", "x\x1b[2J") {
			kerneltest.Do(t, "ip", "link", "add", "name", name, "type", "bridge")
		}
		s, err := Read(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		has := func(name string) bool {
			return slices.ContainsFunc(s.Reading.Snapshot.Interfaces, func(i netstate.InterfaceSnapshot) bool {
				return i.Interface == name
			})
		}
		for _, name := range names {
			if !has(name) {
				t.Errorf("%q is not in the snapshot: %q", name, s.State.LeftOut())
			}
		}
		said := strings.Join(s.State.LeftOut(), "\n")
		for _, name := range []string{`"a;reboot"`, `"$(reboot)"`, `"x\x1b[2J"`} {
			if !strings.Contains(said, name) {
				t.Errorf("%s is not named: %s", name, said)
			}
		}
	})
}

// TestHostWithoutName: a host whose name has not been set, or is a command, has a snapshot all the same.
func TestHostWithoutName(t *testing.T) {
	for name, want := range map[string]string{"(none)": "(none)", "a;reboot": "localhost", "nas-1.b": "nas-1.b"} {
		s := begun(name)
		if s.Host.Host != want || s.Reading.Host != want {
			t.Errorf("%q: %q and %q, want %q", name, s.Host.Host, s.Reading.Host, want)
		}
	}
}
