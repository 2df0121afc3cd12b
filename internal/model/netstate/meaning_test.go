package netstate

import (
	"fmt"
	"maps"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// TestMeanings: a driver's counters are added up by what they count, those of queues too, and
// no other driver's names are taken for its own.
func TestMeanings(t *testing.T) {
	for driver, test := range map[string]struct{ counters, want map[string]int64 }{
		// what queues dropped is a part of what the NIC counts
		"igb": {map[string]int64{"rx_queue_0_drops": 2, "rx_queue_1_drops": 3, "rx_no_buffer_count": 7,
			"rx_fifo_errors": 4, "rx_packets": 9, "xrx_crc_errors": 1}, map[string]int64{"rx_no_buffer": 7}},
		"igc": {map[string]int64{"rx_queue_0_drops": 2, "rx_queue_1_drops": 3},
			map[string]int64{"rx_no_buffer": 5}},
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
		"be2net": {map[string]int64{"rx_drops_no_pbuf": 1, "rx_input_fifo_overflow_drop": 5,
			"rxpp_fifo_overflow_drop": 4, "rxq0: rx_drops_no_frags": 2, "RxQ1: rx_drops_no_frags": 3,
			"rx_dropped_tcp_length": 6, "rx_tcp_checksum_errs": 7, "txq0: tx_stops": 8, "rxq0: rx_pkts": 9},
			map[string]int64{"rx_fifo_full": 6, "rx_no_buffer": 5, "rx_malformed": 6, "rx_bad_checksum": 7,
				"tx_queue_full": 8}},
		// a total and its queues
		"bnxt_en": {map[string]int64{"rx_total_discard_pkts": 9, "[0]: rx_discards": 4, "[1]: rx_discards": 5,
			"rx_discard_packets_cos0": 2, "[11]: tx_discards": 1},
			map[string]int64{"rx_no_buffer": 9, "rx_fifo_full": 2, "tx_dropped": 1}},
		"cxgb4": {map[string]int64{"rx_bg0_frames_dropped  ": 3, "bg0_frames_dropped     ": 4},
			map[string]int64{"rx_fifo_full": 3}},
		"vmxnet3": {map[string]int64{"  pkts rx OOB": 3, "drv dropped rx total": 4, "     fcs": 4, "ring full": 5},
			map[string]int64{"rx_no_buffer": 3, "tx_queue_full": 5}},
		"qede": {map[string]int64{"0: rx_hw_errors": 3, "1_0: stopped_cnt": 4, "no_buff_discards": 5},
			map[string]int64{"rx_bad_checksum": 3, "tx_queue_full": 4, "rx_no_buffer": 5}},
		"st_gmac": {map[string]int64{"rx_buf_unav_irq": 3, "rx_missed_cntr": 5, "mmc_rx_crc_error": 2,
			"rx_crc_errors": 2}, map[string]int64{"rx_no_buffer": 5, "rx_damaged": 2}},
		"hv_netvsc": {map[string]int64{"tx_busy": 7, "stop_queue": 5, "vf_tx_dropped": 2, "tx_queue_0_packets": 9},
			map[string]int64{"tx_queue_full": 7, "tx_dropped": 2}},
		"atlantic": {map[string]int64{"Queue[0] InErrors": 3, "InErrors": 4, "InDroppedDma": 2,
			"TC1 Queue[2] SkbAllocFails": 1},
			map[string]int64{"rx_damaged": 4, "rx_no_buffer": 2, "rx_no_memory": 1}},
		"gve": {map[string]int64{"rx_queue_drop_cnt[0]": 5, "rx_no_buffers_posted[0]": 5, "tx_stop[3]": 1},
			map[string]int64{"rx_no_buffer": 5, "tx_queue_full": 1}},
		"r8125": {map[string]int64{"rx_mac_missed": 70000, "rx_missed": 4464, "rdu": 3, "rx_tcam_dropped": 1},
			map[string]int64{"rx_fifo_full": 70000, "rx_no_buffer": 3, "rx_filtered": 1}},
		"nicvf": {map[string]int64{"rx_drops": 9, "rx_drop_red": 4, "rx_drop_overrun": 5, "rx_drop_bcast": 2},
			map[string]int64{"rx_no_buffer": 9, "rx_filtered": 2}},
		"nfp": {map[string]int64{"dev_rx_discards": 3, "mac.rx_drop_events": 4, "mac.rx_errors": 2,
			"mac.rx_frame_check_sequence_errors": 1}, map[string]int64{"rx_no_buffer": 3, "rx_fifo_full": 4,
			"rx_damaged": 2}},
		"unknown": {map[string]int64{"rx_no_buffer_count": 5}, nil},
	} {
		if got := MeaningsOf(driver, test.counters); !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", driver, got, test.want)
		}
	}
	used := map[string]bool{}
	for _, n := range namings() {
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
		"rx_packets rx_crc_errors rx_missed_errors rx_no_buffer_count tx_timeout_count":          "e1000",
		"rx_crc_errors rx_missed_errors rx_no_buffer_count rx_queue_0_drops":                     "igb",
		"rx_out_of_buffer rx_discards_phy rx_crc_errors_phy rx_packets":                          "mlx5_core",
		"rx_missed rx_errors align_errors tx_errors rx_packets":                                  "r8169",
		"rx_crc_errors rx_dropped rx_packets tx_packets":                                         "",
		"rx_queue_0_packets rx_queue_0_bytes rx_queue_0_drops rx_queue_0_kicks tx_queue_0_kicks": "virtio_net",
		"bw_in_allowance_exceeded queue_0_tx_cnt queue_0_rx_cnt":                                 "ena",
		"rx_fcs_errors rx_discards rx_in_length_errors rx_xoff_pause_rcvd":                       "tg3",
		"mmc_rx_crc_error napi_poll rx_pkt_n tx_pkt_n":                                           "stmmac",
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
		for _, n := range namings() {
			var sum, largest []string
			for _, p := range n.patterns {
				if names := "`" + strings.Join(expand(t, p.names), "`, `") + "`"; p.meaning != m.Name {
					continue
				} else if p.again {
					largest = append(largest, names)
				} else {
					sum = append(sum, names)
				}
			}
			if len(largest) > 0 {
				sum = append(sum, strings.Join(largest, " or "))
			}
			if names := strings.Join(sum, ", "); names != "" {
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

// expand returns the names that a pattern matches, with N for a number.
func expand(t *testing.T, names string) []string {
	t.Helper()
	tree, err := syntax.Parse(names, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	var all func(*syntax.Regexp) []string
	all = func(r *syntax.Regexp) (list []string) {
		switch r.Op {
		case syntax.OpLiteral:
			return []string{string(r.Rune)}
		case syntax.OpConcat:
			list = []string{""}
			for _, part := range r.Sub {
				var longer []string
				for _, begin := range list {
					for _, end := range all(part) {
						longer = append(longer, begin+end)
					}
				}
				list = longer
			}
			return list
		case syntax.OpAlternate:
			for _, part := range r.Sub {
				list = append(list, all(part)...)
			}
			return list
		case syntax.OpCapture, syntax.OpPlus:
			return all(r.Sub[0])
		case syntax.OpQuest:
			return append([]string{""}, all(r.Sub[0])...)
		case syntax.OpEmptyMatch:
			return []string{""}
		case syntax.OpCharClass:
			if len(r.Rune) == 2 && r.Rune[0] == '0' {
				return []string{"N"}
			}
			for i := 0; i < len(r.Rune); i += 2 {
				for c := r.Rune[i]; c <= r.Rune[i+1]; c++ {
					list = append(list, string(c))
				}
			}
			return list
		}
		t.Fatalf("%s: no rule for %v", names, r.Op)
		return nil
	}
	return all(tree)
}

// TestUnknownCounters: counters of faults without a meaning are listed, the largest first; those of
// the kernel, of XDP programs and those whose names only look like faults are not.
func TestUnknownCounters(t *testing.T) {
	counters := map[string]int64{"rx_weird_drop": 3, "TxFrobErrs": 9, "rx_errors": 7, "rx_xdp_drop": 8,
		"nic_interrupts": 4, "tx_deferred": 5, "rx_bytes_transferred": 6, "rx_no_buffer_count": 2,
		"rx_discards_other  ": 1, "cmd_timeouts": 0}
	for driver, want := range map[string]string{
		"igb":     "[{TxFrobErrs 9} {rx_weird_drop 3} {rx_discards_other 1}]",
		"frobnic": "[{TxFrobErrs 9} {rx_weird_drop 3} {rx_discards_other 1}]",
	} {
		if got := fmt.Sprint(UnknownCounters(driver, counters)); got != want {
			t.Errorf("%s: %s, want %s", driver, got, want)
		}
	}
	many := map[string]int64{}
	for i := range 3 * MostUnknownCounters {
		many[fmt.Sprint("drop", i)] = int64(i + 1)
	}
	if list := UnknownCounters("", many); len(list) != MostUnknownCounters || list[0].Value != 3*MostUnknownCounters {
		t.Errorf("%d: %v", len(list), list)
	}
	if list := UnknownCounters("", map[string]int64{"rx_packets": 1}); list != nil {
		t.Errorf("%v", list)
	}
}

// TestMissed: what the NIC dropped in its memory and in the ring is added up, except for drivers that
// count the same packets twice.
func TestMissed(t *testing.T) {
	for driver, want := range map[string]int64{"mlx5_core": 5_100_000 + 91_827, "igb": 5_100_000,
		"": 5_100_000 + 91_827} {
		if got := Missed(driver, map[string]int64{"rx_no_buffer": 5_100_000, "rx_fifo_full": 91_827}); got != want {
			t.Errorf("%s: %d, want %d", driver, got, want)
		}
	}
}
