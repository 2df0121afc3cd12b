package cli

import (
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
)

// What a study is set to so that its trials have a response that its flows do not
// have by themselves.
const (
	setProbe    = "workload.probe=true"
	setLossFree = "workload.loss_free.loss=0%"
)

// judgeBy reads the base, and adds to it what its list is to be judged by: a
// setting that gives 2 % of goodput and takes three times the latency is no help
// that goes without saying.
func (t *tuner) judgeBy() error {
	text, err := settingfile.Design{Name: "tune", Question: "?", Responses: t.flags.responses}.Study(t.file, t.base)
	if err != nil {
		return err
	}
	// The base by itself has to be a sound study; that nothing is varied is right.
	alone := text[:strings.LastIndex(string(text), "\nfactors:\n")+1]
	asked := func(r metric.Metric) bool { return slices.Contains(t.flags.responses, r.Name) }
	latency := asked(metric.LatencyP50) || asked(metric.LatencyP99) || asked(metric.LatencyP999)
	tries := [][]string{nil}
	switch {
	case len(t.flags.responses) == 0:
		doc, _ := source.Parse(t.file, t.base)
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
		set := slices.Concat(t.flags.set, more)
		s, err := study.ParseWith(t.file, alone, set)
		last := i == len(tries)-1
		switch {
		case err == nil && (last || len(t.flags.responses) > 0 || onlyBulk(s)):
			t.study, t.flags.set = s, set
			return nil
		case last:
			return err
		}
	}
	return nil // never: there is a last one
}

// onlyBulk: the study is one of goodput, which a probe may stand beside.
func onlyBulk(s *study.Study) bool {
	return s.Responses[0] == metric.Goodput.Name && !slices.ContainsFunc(s.Workload.Flows, func(f study.Flow) bool { return f.Protocol != "" && !flow.Bulk(f.Protocol) })
}
