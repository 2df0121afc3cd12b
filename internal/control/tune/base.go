package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/tuning"
)

// What a study is set to so that its trials have a response that its flows do not
// have by themselves.
const (
	setProbe    = "workload.probe=true"
	setLossFree = "workload.loss_free.loss=0%"
)

// Path returns the text of a study of two hosts and a link with this rate, round-trip
// time and loss, as a base to tune on. Its windows begin after slow start and when
// buffers have grown, which takes a number of round trips, and are long enough for
// package bottleneck to determine what limits the flow.
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
`, link, max(500*time.Millisecond, 40*round), max(2*time.Second, 60*round))
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
			doc, _ := source.Parse(o.File, alone, set...)
			t.ownControl = doc != nil && doc.Has("workload.congestion_control") ||
				slices.ContainsFunc(s.Workload.Flows, func(f study.Flow) bool { return f.CongestionControl != "" })
			return nil
		case last:
			return err
		}
	}
	return nil // not reached: there is a last try
}

// control decides whether the congestion control of the list is tried. Flows of real hosts have that of
// their sender, unless the base says another: what the hosts have is asked by making the
// same setting and reverting it.
func (t *Tuner) control(ctx context.Context) error {
	path, available := t.study.Workload.CongestionControl, t.options.Controls
	sender := t.study.Workload.Flows[0].From
	if own := t.study.Workload.Flows[0].CongestionControl; own != "" {
		path = own
	}
	if h, _ := t.study.Topology.Host(sender); h != nil && len(h.Via) > 0 {
		available = nil
		i := slices.IndexFunc(t.lines, func(l settingfile.Line) bool { return l.Key == setting.CongestionControl })
		if i < 0 && t.ownControl {
			return nil
		}
		ask := []string{"reno"} // which every kernel has, and every namespace may choose
		if i >= 0 {
			ask = append(ask, t.lines[i].Value)
		}
		var asked []setting.Setting
		for _, value := range ask {
			asked = append(asked, setting.Setting{Host: sender,
				Sysctl: []setting.Sysctl{{Key: setting.CongestionControl, Value: value}}})
		}
		tried, err := t.options.exec.try(ctx, &t.study.Topology, asked, t.options.Options)
		if err != nil {
			return err
		}
		if tried[0].Refused == "" && !t.ownControl {
			path = ask[0]
			if len(tried[0].Applied) > 0 {
				path = tried[0].Applied[0].Prior
			}
			t.options.Set = append(slices.Clone(t.options.Set), "workload.congestion_control="+path)
		}
		if i >= 0 && tried[1].NotFound {
			k := slices.IndexFunc(t.all, func(s record.TuneSetting) bool { return s.Key == setting.CongestionControl })
			t.all[k].Verdict = record.NotTried
			t.all[k].Reasons = []record.Statement{{Code: record.UntriedRefused, Args: []string{"", tried[1].Refused}}}
			t.lines = slices.Delete(t.lines, i, i+1)
		}
	}
	// Flows that are made by other programs, or not over TCP, take no such option.
	if slices.ContainsFunc(t.study.Workload.Flows, func(f study.Flow) bool {
		return f.Tool.String() != "" || flow.Of(f.Protocol).Transport != flow.TCP
	}) {
		t.lines = slices.DeleteFunc(t.lines, func(l settingfile.Line) bool {
			return l.Key == setting.CongestionControl
		})
		for k := range t.all {
			if s := &t.all[k]; s.Key == setting.CongestionControl {
				s.Verdict, s.Reasons = record.NotTried, []record.Statement{{Code: record.UntriedOtherFlows}}
			}
		}
		return nil
	}
	t.lines = tuning.Control(t.lines, t.all, path, available)
	return nil
}

// onlyBulk reports whether the study is one of goodput, which a probe may stand
// beside.
func onlyBulk(s *study.Study) bool {
	return s.Responses[0] == metric.Goodput.Name && !slices.ContainsFunc(s.Workload.Flows, func(f study.Flow) bool {
		return flow.Of(f.Protocol).Transactional()
	})
}
