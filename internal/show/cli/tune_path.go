package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/source"
	"linerate/internal/model/study"

	"linerate/internal/model/settingfile"
	"linerate/internal/model/unit"
)

// pathFlags say where settings are tried: on the hosts of a study, or on a lab of
// two hosts with one link.
type pathFlags struct {
	on    string
	hosts []string
	rate  unit.BitRate
	rtt   unit.Duration
	loss  unit.Ratio
	set   []string
}

// somewhere to try settings was named.
func (f pathFlags) somewhere() bool { return f.on != "" || f.rate > 0 }

func (f pathFlags) check() error {
	var problems []error
	if f.on != "" && (f.rate > 0 || f.rtt > 0 || f.loss > 0) {
		problems = append(problems, errors.New("--on and --rate: expected a study with the hosts and links, or the rate of a path to make"))
	}
	if f.on == "" && f.rate == 0 && (f.rtt > 0 || f.loss > 0) {
		problems = append(problems, errors.New("--rtt and --loss describe a path: expected --rate as well"))
	}
	if f.on == "" && len(f.hosts) > 0 && f.rate == 0 {
		problems = append(problems, errors.New("--host: expected --on STUDY, or --rate for a path between client and server"))
	}
	return errors.Join(problems...)
}

// base is the study that the list is tried in: its name in messages, and its text.
func (f pathFlags) base() (string, []byte, error) {
	if f.on != "" {
		return readStudy(f.on)
	}
	return "the path", []byte(f.path()), nil
}

// path is a study of two hosts and a link. Windows begin when slow start is over
// and buffers have grown, which takes round trips.
func (f pathFlags) path() string {
	link := fmt.Sprintf("from: client.eth0, to: server.eth0, rate: %s", f.rate)
	if f.rtt > 0 {
		link += fmt.Sprintf(", delay: %s", f.rtt/2)
	}
	if f.loss > 0 {
		link += fmt.Sprintf(", loss: %s", f.loss)
	}
	round := time.Duration(f.rtt)
	return fmt.Sprintf(`topology:
  hosts:
    # What a host remembers of earlier connections would carry over into a trial.
    client: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}, sysctls: {net.ipv4.tcp_no_metrics_save: 1}}
    server: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}, sysctls: {net.ipv4.tcp_no_metrics_save: 1}}
  links:
    - {%s}
workload:
  flows:
    - {from: client, to: server}
  warmup: %s
  duration: %s
design: {replicates: 6, margin: 3%%}
`, link, max(500*time.Millisecond, 40*round), max(2*time.Second, 40*round))
}

// targets are the hosts that settings are tried on: those named, or the ends of
// the flows.
func (f pathFlags) targets(s *study.Study) ([]string, error) {
	known := s.Topology.HostNames()
	var list []string
	for _, h := range f.hosts {
		if !slices.Contains(known, h) {
			return nil, fmt.Errorf("--host %s: no such host%s", h, source.DidYouMean(h, known))
		}
		if !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	for _, flow := range s.Workload.Flows {
		for _, h := range []string{flow.From, flow.To} {
			if !slices.Contains(list, h) {
				list = append(list, h)
			}
		}
	}
	return list, nil
}

// threeNames are the names of the three values of a buffer's size.
var threeNames = []string{"min", "default", "max"}

// maxRungs is how many values a search tries at most.
const maxRungs = 16

// parseSearch reads KEY=FROM..TO, where the key may name one of three values:
// net.ipv4.tcp_rmem.max=4MiB..64MiB. Values double from one to the next. What the
// others of three values are comes from the list, or from now.
func parseSearch(text string, lines []settingfile.Line, now func(key string) string) (*settingfile.Search, error) {
	key, span, found := strings.Cut(text, "=")
	low, high, ranged := strings.Cut(span, "..")
	if key = strings.TrimSpace(key); !found || !ranged || key == "" {
		return nil, fmt.Errorf("--search %s: expected KEY=FROM..TO, such as net.ipv4.tcp_rmem.max=4MiB..64MiB", text)
	}
	from, errFrom := unit.ParseBytes(strings.TrimSpace(low))
	to, errTo := unit.ParseBytes(strings.TrimSpace(high))
	if err := cmp.Or(errFrom, errTo); err != nil || from <= 0 || to <= from {
		return nil, fmt.Errorf("--search %s: expected two numbers, the second larger, such as 4MiB..64MiB", text)
	}
	place := -1
	if i := slices.IndexFunc(threeNames, func(p string) bool { return strings.HasSuffix(key, "."+p) }); i >= 0 {
		place, key = i, strings.TrimSuffix(key, "."+threeNames[i])
	}
	value := now(key)
	for _, l := range lines {
		if l.Key == key {
			value = l.Value
		}
	}
	words := strings.Fields(value)
	switch {
	case place < 0 && len(words) > 1:
		return nil, fmt.Errorf("--search %s: %s has %d values; expected %s.%s", text, key, len(words), key, strings.Join(threeNames, ", ."))
	case place >= 0 && len(words) != len(threeNames):
		return nil, fmt.Errorf("--search %s: expected a parameter of three values that this machine or the list has; %s is %q", text, key, value)
	}
	s := &settingfile.Search{Key: key}
	for v := from; ; v = min(2*v, to) {
		s.Names = append(s.Names, v.String())
		text := strconv.FormatInt(int64(v), 10)
		if place >= 0 {
			three := slices.Clone(words)
			three[place] = text
			text = strings.Join(three, " ")
		}
		s.Values = append(s.Values, text)
		if v == to {
			break
		}
		if len(s.Names) == maxRungs {
			return nil, fmt.Errorf("--search %s: expected at most %d doublings from the first to the last", text, maxRungs)
		}
	}
	return s, nil
}
