package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"linerate/internal/kernel/proc"
)

const (
	// stolenShare is how much of the CPU time a hypervisor may take during a test, as
	// in a trial (the trust check steal).
	stolenShare = 0.01
	// pauseShare is how much it may take during any second of it.
	pauseShare = 0.1
	// diskShare is for how much of a second tasks may wait for a disk.
	diskShare = 0.5
	// cpuShare is for how much of its time tasks may wait for a CPU.
	cpuShare = 0.2
)

// sample is the CPU time of all CPUs up to an instant, and the times in which at least one
// task waited for a disk and for a CPU, in seconds.
type sample struct {
	at         time.Time
	stolen, of float64
	disk, cpu  float64
}

// disturbance is the share of the CPU time that was stolen from a test, the largest share of
// a second of it in which tasks waited for a disk, and the share of all of it in which tasks
// waited for a CPU.
type disturbance struct {
	stolen, disk, cpu float64
	hypervisor        bool // it took enough CPU time for a test to fail
}

func (d disturbance) String() string {
	return fmt.Sprintf("a hypervisor took %.1f %% of the CPU time, tasks waited for a disk for %.0f %% of a second, "+
		"for a CPU for %.0f %% of the time", 100*d.stolen, 100*d.disk, 100*d.cpu)
}

// machine records when a hypervisor took CPU time, and when tasks waited for a disk.
type machine struct {
	mu      sync.Mutex
	samples []sample
}

// watch samples the CPU time five times a second, from now on.
func watch(ctx context.Context) *machine {
	m := &machine{}
	m.look()
	go func() {
		for ctx.Err() == nil {
			time.Sleep(200 * time.Millisecond)
			m.look()
		}
	}()
	return m
}

func (m *machine) look() {
	times, err := proc.Proc{}.CPUTimes()
	if err != nil || len(times) == 0 {
		return // then nothing is known to be stolen
	}
	c := times[0] // all CPUs together
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples = append(m.samples, sample{time.Now(), c.Steal, c.User + c.System + c.Idle + c.IRQ + c.SoftIRQ + c.Steal,
		waited("io"), waited("cpu")})
}

// waited is the time since boot in which a task waited for a resource, in seconds (the kernel's
// Documentation/accounting/psi.rst). 0: the kernel does not count it.
func waited(resource string) float64 {
	text, _ := os.ReadFile("/proc/pressure/" + resource)
	some, _, _ := strings.Cut(string(text), "\n")
	_, total, _ := strings.Cut(some, "total=")
	us, _ := strconv.ParseFloat(total, 64)
	return us / 1e6
}

// disturbed is what disturbed a test between two instants, and whether a test that measures may
// have failed because of it.
func (m *machine) disturbed(begin, end time.Time) (what disturbance, yes bool) {
	m.look()
	m.mu.Lock()
	defer m.mu.Unlock()
	return disturbed(m.samples, begin, end)
}

func disturbed(samples []sample, begin, end time.Time) (what disturbance, yes bool) {
	// Those between, the last one before and the first one after.
	from := max(0, sort.Search(len(samples), func(i int) bool { return samples[i].at.After(begin) })-1)
	to := min(len(samples), sort.Search(len(samples), func(i int) bool { return !samples[i].at.Before(end) })+1)
	if from+2 > to {
		return disturbance{}, false
	}
	samples = samples[from:to]
	for i, s := range samples {
		for _, next := range samples[i+1:] {
			if took := next.at.Sub(s.at); took >= time.Second {
				what.hypervisor = what.hypervisor || taken(s, next) > pauseShare
				what.disk = max(what.disk, (next.disk-s.disk)/took.Seconds())
				break
			}
		}
	}
	first, last := samples[0], samples[len(samples)-1]
	what.stolen = taken(first, last)
	what.cpu = (last.cpu - first.cpu) / last.at.Sub(first.at).Seconds()
	what.hypervisor = what.hypervisor || what.stolen > stolenShare
	return what, what.hypervisor || what.disk > diskShare || what.cpu > cpuShare
}

func taken(a, b sample) float64 {
	if b.of <= a.of {
		return 0
	}
	return (b.stolen - a.stolen) / (b.of - a.of)
}

// calm waits until nothing is stolen, which shows only under load, and no task waits for a disk,
// and reports whether that was before maxWait.
func (m *machine) calm(maxWait time.Duration) bool {
	for until := time.Now().Add(maxWait); time.Now().Before(until); time.Sleep(3 * time.Second) {
		begin := time.Now()
		spin(time.Second)
		if what, _ := m.disturbed(begin, time.Now()); !what.hypervisor && what.disk <= diskShare {
			return true
		}
	}
	return false
}

// spin loads every CPU.
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
