package study

import (
	"fmt"
	"regexp"
	"slices"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// checker checks what a study says beyond its topology.
type checker struct {
	*Study
	report source.Report
	// has tells what is written in the file from what is left to defaults.
	has func(path string) bool
	// varied says that levels change where packets go, so that what is wrong
	// with a flow is wrong in some treatments.
	varied bool
	// unsound are the paths of flows that no way can be asked of.
	unsound map[string]bool
}

var studyName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

func (c *checker) check() {
	if !studyName.MatchString(c.Name) {
		c.report("study", "study name %q: expected small letters, digits and dashes", c.Name)
	}
	c.unsound = map[string]bool{}
	c.settings()
	c.timing("workload", c.Workload.Duration, c.Workload.Warmup)
	c.interval()
	c.options("workload", c.Workload.Options)
	c.hosts("workload.age_neighbours", c.Workload.AgeNeighbours)
	if len(c.Workload.Flows) == 0 {
		c.report("workload.flows", "no flows: nothing would be measured")
	}
	c.flows("workload.flows", c.Workload.Flows)
	c.factors()
	c.Design.check(c.has, c.report)
}

// settings checks the settings of all levels, each with what its level adds.
func (c *checker) settings() {
	for i, f := range c.Factors {
		for j, l := range f.Levels {
			over := c.Topology.With(l.Settings)
			for k, s := range l.Settings {
				over.CheckSetting(s, fmt.Sprintf("factors[%d].levels[%d].settings[%d]", i, j, k), c.report)
				c.varied = c.varied || s.Address != nil || s.Route != nil || s.Rule != nil
			}
		}
	}
}

// timing checks what a workload and an override have in common. A value that is
// written as zero is not one that is absent.
func (c *checker) timing(path string, duration, warmup unit.Duration) {
	if duration == 0 && c.has(path+".duration") {
		c.report(path+".duration", "duration: expected more than 0s")
	}
	if warmup == 0 && c.has(path+".warmup") {
		c.report(path+".warmup", "warmup: expected more than 0s: a connection needs time to reach its speed")
	}
}

func (c *checker) interval() {
	w, duration := c.Workload, c.Workload.Duration
	or(&duration, DefaultDuration)
	switch {
	case c.has("workload.interval") && w.Interval < minInterval:
		c.report("workload.interval", "interval %s: expected at least %s", w.Interval, minInterval)
	case w.Interval > duration:
		c.report("workload.interval", "interval %s is longer than the window of %s", w.Interval, duration)
	}
	if c.has("workload.connect_timeout") && w.ConnectTimeout == 0 {
		c.report("workload.connect_timeout", "connect_timeout: expected more than 0s")
	}
}

// minInterval keeps sampling from becoming the load that is measured.
const minInterval = unit.Duration(5e6)

// What the kernel takes for TCP_MAXSEG (net/ipv4/tcp.c: TCP_MIN_MSS and
// MAX_TCP_WINDOW), and the least socket buffer (SOCK_MIN_SNDBUF is about this).
const (
	minMSS    = 88
	maxMSS    = 32767
	minWindow = 4096
)

// maxStreams is below the ports that a host opens connections from
// (net.ipv4.ip_local_port_range, 28232 of them).
const maxStreams = 20_000

// congestionControl is a module's name: TCP_CA_NAME_MAX is 16 with the zero byte.
var congestionControl = regexp.MustCompile(`^[a-z0-9_-]{1,15}$`)

func (c *checker) options(path string, o Options) {
	if o.Streams > maxStreams || o.Streams < 1 && c.has(path+".streams") {
		c.report(path+".streams", "streams %d: expected 1 to %d", o.Streams, maxStreams)
	}
	if o.MSS != 0 && (o.MSS < minMSS || o.MSS > maxMSS) || o.MSS == 0 && c.has(path+".mss") {
		c.report(path+".mss", "mss %d: the kernel takes %d to %d bytes", o.MSS, minMSS, maxMSS)
	}
	if o.CongestionControl != "" && !congestionControl.MatchString(o.CongestionControl) {
		c.report(path+".congestion_control", "congestion_control %q: expected the kernel's name of one, such as cubic, reno or bbr", o.CongestionControl)
	}
	if o.Window < minWindow && c.has(path+".window") {
		c.report(path+".window", "window %s: expected at least %s", o.Window, unit.Bytes(minWindow))
	}
}

// hosts checks a list of hosts' names.
func (c *checker) hosts(path string, names []string) {
	for i, name := range names {
		path := fmt.Sprintf("%s[%d]", path, i)
		if _, ok := c.Topology.FindHost(name, path, c.report); ok && slices.Contains(names[:i], name) {
			c.report(path, "host %q is named twice", name)
		}
	}
}

// flows checks what flows say by themselves; whether there is a way for them is
// asked of each treatment.
func (c *checker) flows(path string, flows []Flow) {
	for i, f := range flows {
		path := fmt.Sprintf("%s[%d]", path, i)
		c.options(path, f.Options)
		_, fromKnown := c.Topology.FindHost(f.From, path+".from", c.report)
		_, toKnown := c.Topology.FindHost(f.To, path+".to", c.report)
		switch {
		case !fromKnown || !toKnown:
		case f.From == f.To:
			c.report(path, "flow from %q to itself never leaves the host", f.From)
		case f.Source.IsValid() && f.Destination.IsValid() && f.Source.Is4() != f.Destination.Is4():
			c.report(path+".destination", "flow from %s to %s: one is IPv4, the other IPv6", f.Source, f.Destination)
		default:
			continue
		}
		c.unsound[path] = true
	}
}
