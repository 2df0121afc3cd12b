//go:build linux

package main

import "fmt"

// figure is what one turn of a contender came to. What is 0 was not measured, but for lost
// and uncounted.
type figure struct {
	rate float64 // in the contest's unit
	// cpu is the time of all the machine's CPUs for each unit of work (a gigabyte, a request),
	// whatever used them, and client that of the client's process alone, in seconds.
	cpu, client float64
	// units is how much work a whole turn was, where cpu and client have still to be found from it.
	units float64
	// lost is the part of the datagrams that was lost, and uncounted the part that was
	// sent and is neither received nor lost by the program's own count.
	lost, uncounted float64
	p99             float64 // seconds
	// kernel and memory are bytes of the kernel's and of linerate's own memory, for each
	// connection or host.
	kernel, memory float64
	labTimes
}

// quantity is a part of figures that tables show and marks are about.
type quantity struct {
	name, unit string
	digits     int     // after the point
	scale      float64 // so many of unit are one of a figure's
	of         func(figure) float64
}

// rate is the quantity of a contest whose figures have a rate.
func rate(unit string, digits int) quantity {
	return quantity{"rate", unit, digits, 1, func(f figure) float64 { return f.rate }}
}

var (
	rateOf   = rate("", 1)
	cpuPerGB = quantity{"CPU time, both ends", "s/GB", 3, 1, func(f figure) float64 { return f.cpu }}
	cpuEach  = quantity{"CPU time, both ends", "µs", 2, 1e6, func(f figure) float64 { return f.cpu }}
	clientOf = quantity{"CPU time, client", "µs", 2, 1e6, func(f figure) float64 { return f.client }}
	p99Of    = quantity{"p99", "ms", 2, 1e3, func(f figure) float64 { return f.p99 }}
	lostOf   = quantity{"lost", "%", 2, 100, func(f figure) float64 { return f.lost }}
	missing  = quantity{"not counted", "%", 4, 100, func(f figure) float64 { return f.uncounted }}
	kernelOf = quantity{"kernel's memory", "B", 0, 1, func(f figure) float64 { return f.kernel }}
	memoryOf = quantity{"linerate's memory", "B", 0, 1, func(f figure) float64 { return f.memory }}
)

// cell shows the spread of a quantity; a dash, if it was not measured.
func (q quantity) cell(s spread) string {
	if s == (spread{}) && q.unit != "%" {
		return "–"
	}
	return s.text(q.digits, q.scale, "")
}

// head names a quantity with its unit.
func (q quantity) head() string { return fmt.Sprintf("%s, %s", q.name, q.unit) }
