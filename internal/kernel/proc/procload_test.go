package proc

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/model/netstate"
)

func TestCPUEvents(t *testing.T) {
	p := procOf(t, "proc-6.18.txtar")
	events, err := p.CPUEvents()
	if err != nil || len(events) != 2 {
		t.Fatalf("%+v, %v", events, err)
	}
	first, second := events[0], events[1]
	if first.CPU != 0 || first.Interrupts != 1+1200+87037 || first.Softirqs["NET_RX"] != 1345430 {
		t.Errorf("CPU 0: %+v", first)
	}
	if second.CPU != 1 || second.Interrupts != 30+96957 || second.Softirqs["BLOCK"] != 315598 ||
		len(second.Softirqs) != 8 {
		t.Errorf("CPU 1: %+v", second)
	}
	// A CPU that is off line has no column among the interrupts.
	table, err := parseCPUTable([]byte("   CPU0  CPU3\n 1:  4  5  chip\nERR: 9\n"))
	if by := table.sums(); err != nil || by[0] != 4 || by[3] != 5 || len(by) != 2 {
		t.Errorf("%v, %v", by, err)
	}
	for _, text := range []string{"", "1: 2 3\n", "CPU0 CPUx\n"} {
		if got, err := parseCPUTable([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if got, err := parseSoftirqs([]byte("CPU0\nNET_RX: many\n")); err == nil {
		t.Errorf("words are read as %v", got)
	}
}

func TestMemoryLoad(t *testing.T) {
	p := procOf(t, "proc-6.18.txtar")
	want := netstate.MemoryLoad{AvailableBytes: 23591496 << 10, TCPBytes: 49 * int64(os.Getpagesize()),
		SomeWaitedUs: 123456, AllWaitedUs: 789}
	if got, err := p.MemoryLoad(); err != nil || *got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	// Kernels without PSI report the rest.
	if err := os.RemoveAll(filepath.Join(p.Root, "pressure")); err != nil {
		t.Fatal(err)
	}
	want.SomeWaitedUs, want.AllWaitedUs = 0, 0
	if got, err := p.MemoryLoad(); err != nil || *got != want {
		t.Errorf("without pressure: %+v, %v", got, err)
	}
	if _, err := procOf(t, "proc-4.18.txtar").MemoryLoad(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without meminfo: %v", err)
	}
	for _, text := range []string{"", "some total=x\n", "half total=3\n", "some avg10=0.00\n"} {
		p := procOf(t, "proc-6.18.txtar")
		if err := os.WriteFile(filepath.Join(p.Root, "pressure", "memory"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := p.MemoryLoad(); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
