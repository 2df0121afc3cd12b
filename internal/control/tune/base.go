package tune

import (
	"fmt"
	"slices"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

// What a study is set to so that its trials have a response that its flows do not
// have by themselves.
const (
	setProbe    = "workload.probe=true"
	setLossFree = "workload.loss_free.loss=0%"
)

// Path is the text of a study of two hosts and a link, a base to tune on. Windows
// begin when slow start is over and buffers have grown, which takes round trips.
func Path(rate unit.BitRate, rtt unit.Duration, loss unit.Ratio) []byte {
	link := fmt.Sprintf("from: client.eth0, to: server.eth0, rate: %s", rate)
	if rtt > 0 {
		link += fmt.Sprintf(", delay: %s", rtt/2)
	}
	if loss > 0 {
		link += fmt.Sprintf(", loss: %s", loss)
	}
	round := time.Duration(rtt)
	return fmt.Appendf(nil, `topology:
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
design: {margin: 3%%}
`, link, max(500*time.Millisecond, 40*round), max(2*time.Second, 40*round))
}

// hosts are those that settings are tried on: the ones asked for, or the ends of the
// flows.
func hosts(s *study.Study, asked []string) ([]string, error) {
	known := s.Topology.HostNames()
	for _, h := range asked {
		if !slices.Contains(known, h) {
			return nil, fmt.Errorf("--host %s: no such host%s", h, source.DidYouMean(h, known))
		}
	}
	if len(asked) == 0 {
		for _, f := range s.Workload.Flows {
			asked = append(asked, f.From, f.To)
		}
	}
	var list []string
	for _, h := range asked {
		if !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	return list, nil
}

// judgeBy reads the base, and adds to it what its list is to be judged by: a
// setting that gains 2 % of goodput at three times the latency is no clear help.
func (t *Tuner) judgeBy() error {
	o := &t.options
	// The base by itself has to be a sound study; that nothing is varied is right.
	alone, err := settingfile.Design{Name: "tune", Question: "?", Responses: o.Responses}.Unvaried(o.File, o.Base)
	if err != nil {
		return err
	}
	asked := func(r metric.Metric) bool { return slices.Contains(o.Responses, r.Name) }
	latency := slices.ContainsFunc(o.Responses, func(name string) bool {
		r, _ := metric.Find(name)
		return r.Probed
	})
	tries := [][]string{nil}
	switch {
	case len(o.Responses) == 0:
		doc, _ := source.Parse(o.File, o.Base)
		if doc != nil && !doc.Has("response") {
			tries = [][]string{{setProbe}, nil}
		}
	case latency && asked(metric.LossFree):
		tries = [][]string{nil, {setProbe}, {setLossFree}, {setLossFree, setProbe}}
	case latency:
		tries = [][]string{nil, {setProbe}}
	case asked(metric.LossFree):
		tries = [][]string{nil, {setLossFree}}
	}
	for i, more := range tries {
		set := slices.Concat(o.Set, more)
		s, err := study.Parse(o.File, alone, set...)
		last := i == len(tries)-1
		switch {
		case err == nil && (last || len(o.Responses) > 0 || onlyBulk(s)):
			t.study, o.Set = s, set
			return nil
		case last:
			return err
		}
	}
	return nil // not reached: there is a last try
}

// onlyBulk reports whether the study is one of goodput, which a probe may stand
// beside.
func onlyBulk(s *study.Study) bool {
	return s.Responses[0] == metric.Goodput.Name && !slices.ContainsFunc(s.Workload.Flows, func(f study.Flow) bool { return flow.Of(f.Protocol).Transactional() })
}
