//go:build linux

package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/cause"
	"linerate/internal/model/record"
)

// twoHolders has two hosts with one address. The switch floods in the order of its
// links: the first host's answer arrives first, and the client believes it.
const twoHolders = `study: duplicate
topology:
  hosts:
    client: {interfaces: {eth0: {addresses: [10.0.0.9/24]}}}
    server: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    other: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  switches: {switch: {}}
  links:
    - {from: FIRST.eth0, to: switch, rate: 50mbit}
    - {from: SECOND.eth0, to: switch, rate: 50mbit}
    - {from: client.eth0, to: switch, rate: 50mbit}
workload:
  duration: 200ms
  warmup: 150ms
  interval: 100ms
  connect_timeout: 500ms
  flows: [{from: client, to: server, destination: 10.0.0.1}]
factors:
  address:
    levels:
      of one: {}
      of two:
        unreachable: true
        settings: [{host: other, address: {interface: eth0, address: 10.0.0.1/24}}]
design: {replicates: 2}
`

// TestDuplicateAddress: that two machines answer for an address is found whichever
// answer the client believes, and nothing is found where one does.
func TestDuplicateAddress(t *testing.T) {
	kerneltest.Parallel(t)
	for _, order := range [][2]string{{"server", "other"}, {"other", "server"}} {
		t.Run(order[0]+" first", func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "duplicate.yaml")
			if err := os.WriteFile(path,
				[]byte(strings.NewReplacer("FIRST", order[0], "SECOND", order[1]).Replace(twoHolders)),
				0o644); err != nil {
				t.Fatal(err)
			}
			run := controltest.Run(t, controltest.Study{File: path, Seed: 7})
			i := slices.IndexFunc(run.Findings, func(f record.Finding) bool { return f.ID == "duplicate-address" })
			if i < 0 {
				t.Fatalf("findings %+v", run.Findings)
			}
			f := run.Findings[i]
			if a, is := f.Args.(cause.Duplicate); f.Confidence != record.Certain || !is || a.How != cause.Held ||
				f.Of() != "10.0.0.1" || !slices.Equal(f.Treatments, []string{"of two"}) {
				t.Errorf("%+v", f)
			}
			for _, other := range run.Findings {
				if other.ID != f.ID {
					t.Errorf("found as well: %+v", other)
				}
			}
			for _, tr := range run.Treatments {
				if want := tr.Name == "of one" || order[0] == "server"; want != (tr.Unconnected == 0) {
					t.Errorf("%s: %d flows did not reach the server", tr.Name, tr.Unconnected)
				}
			}
		})
	}
}
