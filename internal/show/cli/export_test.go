package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestRedactedSnapshots: in all redacted snapshots of a run a host has one name, also as a neighbour
// and in the names of the files. A name that only one snapshot has is replaced in all, but not that
// of another host's interface.
func TestRedactedSnapshots(t *testing.T) {
	at := func(host, neighbour string) *netstate.HostSnapshot {
		s := &netstate.HostSnapshot{Schema: netstate.HostSnapshotSchema, Host: netstate.HostEnvironment{Host: host},
			Reading: netstate.HostReading{Host: host}}
		s.State.LLDP = []netstate.LLDPNeighbour{{Interface: "eth0", System: neighbour, PortDescription: "eth0"}}
		s.Reading.Snapshot.Interfaces = []netstate.InterfaceSnapshot{
			{Interface: map[string]string{"nas": "enp1s0", "vault": "eth0"}[host]}}
		s.State.Resolver = &netstate.Resolver{Search: map[string][]string{"vault": {"corp.example"}}[host]}
		s.State.Log = &netstate.KernelLog{Lines: []netstate.LogLine{{Text: "eth0: no answer of db.corp.example"}}}
		return s
	}
	run := &record.Run{Snapshots: []netstate.HostSnapshots{
		{Host: "nas", Before: at("nas", "vault"), After: at("nas", "vault")},
		{Host: "vault", Before: at("vault", "nas"), After: at("vault", "nas")},
	}}
	f := exportFlags{redact: true, output: filepath.Join(t.TempDir(), "around")}
	if err := f.writeSnapshots(run); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(f.output)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, file.Name())
		s, err := readSnapshot(nil, filepath.Join(f.output, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		host, neighbour := s.Reading.Host, s.State.LLDP[0].System
		if pair := []string{host, neighbour}; !slices.Contains([]string{host + "-before.json", host + "-after.json"},
			file.Name()) || host == neighbour || slices.Max(pair) != "host2" || slices.Min(pair) != "host1" {
			t.Errorf("%s is of %s beside %s", file.Name(), host, neighbour)
		}
		if text := s.State.Log.Lines[0].Text; text != "eth0: no answer of db.domain1" ||
			s.State.LLDP[0].PortDescription != "eth0" ||
			!slices.Contains([]string{"enp1s0", "eth0"}, s.Reading.Snapshot.Interfaces[0].Interface) {
			t.Errorf("%s: %q, %+v, %+v", file.Name(), text, s.State.LLDP, s.Reading.Snapshot.Interfaces)
		}
	}
	if want := []string{"host1-after.json", "host1-before.json", "host2-after.json",
		"host2-before.json"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
}
