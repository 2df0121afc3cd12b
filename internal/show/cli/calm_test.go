package cli

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"linerate/internal/kernel"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
)

// calm waits until a hypervisor leaves this machine its processors: what it takes is
// only told while they have something to do. It takes them for seconds to minutes;
// after four of those the test goes on.
func calm(t *testing.T) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 4*time.Minute; time.Sleep(3 * time.Second) {
		before, err := kernel.Proc{}.CPUTimes()
		if err != nil {
			t.Fatal(err)
		}
		spin(300 * time.Millisecond)
		after, err := kernel.Proc{}.CPUTimes()
		if err != nil {
			t.Fatal(err)
		}
		this := record.HostReading{Host: "this machine", Begin: record.Reading{CPU: before}, End: record.Reading{CPU: after}}
		if !trust.Stolen(record.Trial{Hosts: []record.HostReading{this}}) {
			return
		}
	}
	t.Log("a hypervisor takes this machine's processors all the time")
}

// spin gives every processor something to do.
func spin(d time.Duration) {
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		all.Go(func() {
			for end := time.Now().Add(d); time.Now().Before(end); {
			}
		})
	}
	all.Wait()
}
