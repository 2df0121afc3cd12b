package nic_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestDrivers: what drivers count by whatever names is found by its meaning, with the driver's
// own name as evidence. The names are those of the drivers' sources and documents.
func TestDrivers(t *testing.T) {
	for _, test := range []struct {
		driver   string
		counters map[string]int64 // by how much they grow
		want     []string         // rules; none: nothing is found
		row      string           // of the evidence of the first
	}{
		{"ixgbe", map[string]int64{"rx_no_dma_resources": 5000}, []string{"ring-empty"},
			`"name":"rx_no_dma_resources","driver":"ixgbe","meaning":"rx_no_buffer","grew":5000,"over_s":3`},
		{"ixgbe", map[string]int64{"rx_crc_errors": 2}, []string{"frames-damaged"}, `"name":"rx_crc_errors","driver":"ixgbe"`},
		{"ixgbe", map[string]int64{"rx_long_length_errors": 2}, []string{"frames-wrong-length"},
			"rx_long_length_errors"},
		{"ixgbe", map[string]int64{"tx_timeout_count": 1}, []string{"transmit-timeout"}, "tx_timeout_count"},
		{"ixgbe", map[string]int64{"rx_flow_control_xoff": 900, "rx_flow_control_xon": 900}, []string{"paused"},
			"rx_flow_control_xoff"},
		{"ixgbe", map[string]int64{"rx_packets": 900, "tx_restart_queue": 40, "lsc_int": 2}, nil, ""},
		{"mlx5_core", map[string]int64{"rx_discards_phy": 300, "outbound_pci_stalled_wr_events": 2,
			"outbound_pci_stalled_wr": 60}, []string{"pcie-stalled", "nic-buffer-full"},
			`"name":"outbound_pci_stalled_wr_events","driver":"mlx5_core","meaning":"pcie_stalled","grew":2`},
		{"mlx5_core", map[string]int64{"outbound_pci_stalled_rd": 20}, nil, ""}, // a percentage below the events' 30 %
		{"mlx5_core", map[string]int64{"link_down_events_phy": 1}, []string{"link-lost"}, "link_down_events_phy"},
		{"mlx5_core", map[string]int64{"tx_pause_storm_error_events": 1, "tx_pause_ctrl_phy": 70},
			[]string{"pause-storm", "pausing"}, "tx_pause_storm_error_events"},
		{"mlx5_core", map[string]int64{"rx_symbol_err_phy": 3}, []string{"frames-damaged"}, "rx_symbol_err_phy"},
		{"mlx5_core", map[string]int64{"rx_corrected_bits_phy": 1e6}, nil, ""}, // what forward error correction is for
		{"mlx5_core", map[string]int64{"rx_pci_signal_integrity": 1}, []string{"pcie-errors"},
			"rx_pci_signal_integrity"},
		{"ice", map[string]int64{"rx_alloc_fail": 4}, []string{"receive-buffers-missing"}, `"name":"rx_alloc_fail","driver":"ice"`},
		{"ice", map[string]int64{"rx_dropped.nic": 40}, []string{"nic-buffer-full"}, "rx_dropped.nic"},
		{"ice", map[string]int64{"rx_dropped.nic": 9}, nil, ""},
		{"ice", map[string]int64{"rx_crc_errors.nic": 1}, []string{"frames-damaged"}, "rx_crc_errors.nic"},
		{"ice", map[string]int64{"tx_timeout.nic": 1}, []string{"transmit-timeout"}, "tx_timeout.nic"},
		{"ice", map[string]int64{"link_xoff_tx.nic": 12}, []string{"pausing"}, "link_xoff_tx.nic"},
		{"ice", map[string]int64{"rx_oversize.nic": 12}, []string{"frames-wrong-length"}, "rx_oversize.nic"},
		{"e1000e", map[string]int64{"rx_no_buffer_count": 20, "rx_missed_errors": 20},
			[]string{"ring-overrun", "ring-empty", "nic-buffer-full"},
			`"driver":"e1000e","missed":20,"over_s":3`},
		{"e1000e", map[string]int64{"alloc_rx_buff_failed": 1}, []string{"receive-buffers-missing"},
			"alloc_rx_buff_failed"},
		{"e1000e", map[string]int64{"rx_short_length_errors": 1}, []string{"frames-wrong-length"},
			"rx_short_length_errors"},
		{"virtio_net", map[string]int64{"rx_queue_0_drops": 8, "rx1_drops": 8}, []string{"ring-empty"},
			`"name":"rx1_drops","driver":"virtio_net","meaning":"rx_no_buffer","grew":8`},
		{"virtio_net", map[string]int64{"tx0_tx_timeouts": 1}, []string{"transmit-timeout"}, "tx0_tx_timeouts"},
		{"bnxt_en", map[string]int64{"rx_fec_uncorrectable_blocks": 1}, []string{"frames-damaged"},
			`"name":"rx_fec_uncorrectable_blocks","driver":"bnxt_en","meaning":"fec_failed"`},
		{"ena", map[string]int64{"pps_allowance_exceeded": 99}, []string{"cloud-allowance"}, "pps_allowance_exceeded"},
		{"veth", map[string]int64{"rx_crc_errors": 2}, nil, ""}, // no driver whose names are known
	} {
		s := diagnosetest.HostNamed("nas", 15)
		before := s.State.NICs[0]
		before.Driver = test.driver
		now := before
		before.Counters, now.Counters = map[string]int64{}, map[string]int64{}
		for name, by := range test.counters {
			now.Counters[name] = by
		}
		s.State.NICs[0] = now.Since(before, 3)
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		var ids []string
		for _, f := range e.Findings {
			ids = append(ids, f.ID)
			if f.ExplainedBy != "" && f.ExplainedBy != test.want[0] {
				t.Errorf("%+v", f)
			}
		}
		slices.Sort(ids)
		want := slices.Sorted(slices.Values(test.want))
		if !slices.Equal(ids, want) {
			t.Errorf("%s %v: found %v", test.driver, test.counters, ids)
		} else if len(want) > 0 {
			first := e.Findings[slices.IndexFunc(e.Findings, func(f record.Finding) bool {
				return f.ID == test.want[0]
			})]
			if first.Boot || !strings.Contains(diagnosetest.Facts(first), test.row) {
				t.Errorf("%s: %+v", test.row, first)
			}
		}

		// What was counted before the first reading, or at one whenever, is possible.
		for _, over := range []float64{3, 0} {
			boot := diagnosetest.HostNamed("nas", 15)
			if boot.State.NICs[0] = now; over > 0 {
				boot.State.NICs[0] = now.Since(now, over)
			}
			for _, f := range diagnose.Hosts([]netstate.HostSnapshot{boot}).Findings {
				if !f.Boot || f.Confidence != record.Possible ||
					!strings.Contains(diagnosetest.Facts(f), `"since_boot":true`) {
					t.Errorf("since boot: %+v", f)
				}
			}
		}
	}
}

// TestDriverUnknown: a NIC whose counters have no known names is said not to be evaluated.
func TestDriverUnknown(t *testing.T) {
	s := diagnosetest.HostNamed("nas", 15)
	s.State.NICs[0].Driver = "frobnic"
	e := diagnose.Hosts([]netstate.HostSnapshot{s})
	i := slices.IndexFunc(e.Unevaluated, func(u record.Unevaluated) bool { return u.Rule == "frames-damaged" })
	if i < 0 || !strings.Contains(e.Unevaluated[i].Why, "frobnic") {
		t.Errorf("%+v", e.Unevaluated)
	}
}

// TestDriverPasted: counters of a pasted text with the driver's name are evaluated, those of a
// text without are not.
func TestDriverPasted(t *testing.T) {
	for driver, want := range map[string]bool{"ixgbe": true, "": false} {
		s := diagnosetest.HostNamed("nas", 15)
		s.OverS, s.Pasted = 0, []string{"interfaces"}
		s.State.NICs[0].Driver, s.State.NICs[0].Counters = driver, map[string]int64{"rx_crc_errors": 9}
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		found := slices.ContainsFunc(e.Findings, func(f record.Finding) bool {
			return f.ID == "frames-damaged" && f.Boot
		})
		if evaluated := slices.Contains(e.Evaluated, "frames-damaged"); found != want || evaluated != want {
			t.Errorf("%q: found %t, evaluated %t", driver, found, evaluated)
		}
	}
}

// TestDriverShare: a few packets among very many are no finding.
func TestDriverShare(t *testing.T) {
	for packets, want := range map[uint64]int{50_000: 1, 5_000_000: 0} {
		s := diagnosetest.HostNamed("nas", 15)
		now := s.State.NICs[0]
		now.Driver, now.Counters = "ixgbe", map[string]int64{"rx_no_dma_resources": 20}
		s.State.NICs[0] = now.Since(netstate.NIC{Interface: "eth0", Driver: "ixgbe"}, 3)
		s.Reading.End.Interfaces[0].RxPackets = packets
		if e := diagnose.Hosts([]netstate.HostSnapshot{s}); len(e.Findings) != want {
			t.Errorf("20 of %d packets: %+v", packets, e.Findings)
		}
	}
}
