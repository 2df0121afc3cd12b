package netstate

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMeanings: a driver's counters are added up by what they count, those of queues too, and
// no other driver's names are taken for its own.
func TestMeanings(t *testing.T) {
	for driver, test := range map[string]struct{ counters, want map[string]int64 }{
		"igb": {map[string]int64{"rx_queue_0_drops": 2, "rx_queue_1_drops": 3, "rx_no_buffer_count": 4,
			"rx_fifo_errors": 4, "rx_packets": 9, "xrx_crc_errors": 1}, map[string]int64{"rx_no_buffer": 9}},
		"ixgbe": {map[string]int64{"rx_no_dma_resources": 5, "rx_missed_errors": 1, "tx_restart_queue": 7},
			map[string]int64{"rx_no_buffer": 5, "rx_fifo_full": 1, "tx_queue_full": 7}},
		// rd is a percentage
		"mlx5_core": {map[string]int64{"rx_out_of_buffer": 5, "rx_discards_phy": 6, "outbound_pci_stalled_rd": 40,
			"outbound_pci_stalled_rd_events": 1, "outbound_pci_stalled_wr_events": 2},
			map[string]int64{"rx_no_buffer": 5, "rx_fifo_full": 6, "pcie_stalled": 3}},
		"virtio_net": {map[string]int64{"rx0_drops": 1, "rx_queue_1_drops": 2, "rx0_xdp_drops": 4},
			map[string]int64{"rx_no_buffer": 3}},
		"i40e": {map[string]int64{"port.rx_crc_errors": 3, "portxrx_crc_errors": 4},
			map[string]int64{"rx_damaged": 3}},
		"unknown": {map[string]int64{"rx_no_buffer_count": 5}, nil},
	} {
		if got := MeaningsOf(driver, test.counters); !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", driver, got, test.want)
		}
	}
	used := map[string]bool{}
	for _, n := range namings {
		for _, p := range n.patterns {
			used[p.meaning] = true
			if !slices.ContainsFunc(Meanings, func(m Meaning) bool { return m.Name == p.meaning }) {
				t.Errorf("%s: no meaning %s", n.Driver, p.meaning)
			}
		}
	}
	for _, m := range Meanings {
		if !used[m.Name] {
			t.Errorf("no driver has %s", m.Name)
		}
	}
}

// TestDriverOf: a driver is known by the names of its counters, also while they are 0; a few
// names that other drivers have as well say nothing.
func TestDriverOf(t *testing.T) {
	for names, want := range map[string]string{
		"rx_packets rx_crc_errors rx_missed_errors rx_no_buffer_count tx_timeout_count": "e1000",
		"rx_crc_errors rx_missed_errors rx_no_buffer_count rx_queue_0_drops":            "igb",
		"rx_out_of_buffer rx_discards_phy rx_crc_errors_phy rx_packets":                 "mlx5_core",
		"rx_missed rx_errors align_errors tx_errors rx_packets":                         "r8169",
		"rx_crc_errors rx_dropped rx_packets tx_packets":                                "",
		"": "",
	} {
		counters := map[string]int64{}
		for name := range strings.FieldsSeq(names) {
			counters[name] = 0
		}
		if got := DriverOf(counters); got != want {
			t.Errorf("%s: %q, want %q", names, got, want)
		}
	}
}

// The table of meanings in docs/counters.md is that of the code.
func TestDocumentedMeanings(t *testing.T) {
	const file, head = "../../../docs/counters.md", "| meaning | is | counters |\n|---|---|---|\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatalf("%s has no table with the head %q", file, head)
	}
	_, after, _ := strings.Cut(rest, "\n\n")
	var rows strings.Builder
	for _, m := range Meanings {
		var lists []string // of counters, in the order of the drivers
		drivers := make(map[string][]string)
		for _, n := range namings {
			for _, p := range n.patterns {
				if p.meaning != m.Name {
					continue
				}
				names := "`" + strings.NewReplacer("|", "`, `", `\d+`, "N", `\.`, ".").Replace(p.names) + "`"
				if drivers[names] == nil {
					lists = append(lists, names)
				}
				drivers[names] = append(drivers[names], n.Driver)
			}
		}
		for i, names := range lists {
			lists[i] = strings.Join(drivers[names], ", ") + ": " + names
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", m.Name, m.About, strings.Join(lists, "; "))
	}
	want := before + head + rows.String() + "\n" + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf(
			"the table of %s is not that of meaning.go: go test ./internal/model/netstate -run "+
				"TestDocumentedMeanings -update", file)
	}
}
