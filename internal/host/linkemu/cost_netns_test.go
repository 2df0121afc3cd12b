//go:build linux && !portable

package linkemu

import (
	"net"
	"syscall"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/topology"
)

// TestCost logs what a gigabyte takes of a processor over each kind of link, sender,
// receiver and emulator together (record 0012). To lose single frames, the emulator takes
// no more than twice what links take whose frames the sender's kernel segments.
func TestCost(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		delay, lossy := topology.Impairment{Delay: 2e6}, topology.Impairment{Delay: 2e6, Loss: 0.0005}
		cost := map[string]float64{}
		for _, link := range []struct {
			name      string
			by        topology.Mechanism
			in        topology.Impairment
			segmented bool
		}{
			{"veth pair", "", topology.Impairment{}, false},
			{"veth pair, segmented frames", "", topology.Impairment{}, true},
			{"delay by the emulator", topology.Emulator, delay, false},
			{"delay and loss by the emulator", topology.Emulator, lossy, false},
			{"delay by netem", topology.Netem, delay, false},
			{"delay and loss by netem", topology.Netem, lossy, false},
		} {
			if link.by == topology.Netem && len(mechanisms(t)) == 1 {
				continue
			}
			e := joined(t, link.by, link.in, topology.Impairment{Delay: link.in.Delay})
			for i := range 2 {
				if err := e.both[i].Shape("eth0", topology.Impairment{Rate: 200e6, Burst: 128 << 10}); err != nil {
					t.Fatal(err)
				}
				e.do(i, func() {
					if link.segmented {
						kerneltest.Do(t, "ip", "link", "set", "eth0", "gso_max_segs", "1")
					}
				})
			}
			cost[link.name] = e.cost()
			t.Logf("%-32s %6.2f s/GB", link.name, cost[link.name])
		}
		if most := 2 * cost["veth pair, segmented frames"]; cost["delay and loss by the emulator"] > most {
			t.Errorf("the emulator takes %.2f s/GB to lose frames, want at most %.2f",
				cost["delay and loss by the emulator"], most)
		}
	})
}

// cost is the processor time of this process for each gigabyte that it sends through TCP
// from one end to the other, in seconds.
func (e ends) cost() float64 {
	e.t.Helper()
	var l net.Listener
	e.do(1, func() { l = must(net.Listen("tcp4", "10.0.0.2:0")) })
	defer l.Close()
	var out net.Conn
	e.do(0, func() { out = must(net.Dial("tcp4", l.Addr().String())) })
	defer out.Close()
	in := must(l.Accept())
	defer in.Close()
	go func() {
		data := make([]byte, 128<<10)
		for {
			if _, err := out.Write(data); err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 128<<10)
	read := func(size int) {
		for size > 0 {
			size -= must(in.Read(buffer))
		}
	}
	used := func() float64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			e.t.Fatal(err)
		}
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	const size = 16 << 20
	read(size / 4)
	began := used()
	read(size)
	return (used() - began) / (float64(size) / 1e9)
}
