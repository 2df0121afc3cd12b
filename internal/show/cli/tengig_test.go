package cli

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/bottleneck"
	"linerate/studies"
)

// notTried are settings of the published lists that a lab's hosts cannot be given:
// they are the whole machine's.
var notTried = []string{
	"net.core.rmem_max", "net.core.wmem_max", "net.core.rmem_default", "net.core.wmem_default",
	"net.core.netdev_max_backlog", "net.core.default_qdisc", "net.ipv4.tcp_mem",
	"kernel.shmmax", "kernel.shmall", "fs.aio-max-nr",
}

// TestTenGigIsTheLists: the study ten-gig tries the published lists as they are
// published, names all that it leaves out, and takes the whole apart as tune does.
func TestTenGigIsTheLists(t *testing.T) {
	data, err := studies.Files.ReadFile("ten-gig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("ten-gig.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(data), "study:")
	comment = strings.Join(strings.Fields(strings.ReplaceAll(comment, "#", " ")), " ")
	for _, key := range notTried {
		if short := key[strings.LastIndex(key, ".")+1:]; !strings.Contains(comment, short) {
			t.Errorf("it is not said that %s is not tried", key)
		}
	}
	var files []settingfile.File
	want := map[string]map[string]string{}
	kept := func(files ...settingfile.File) (list []settingfile.Line) {
		for _, l := range settingfile.Winning(files, nil) {
			if !slices.Contains(notTried, l.Key) {
				list = append(list, l)
			}
		}
		return list
	}
	add := func(name string, lines []settingfile.Line) {
		want[name] = map[string]string{}
		for _, l := range lines {
			want[name][l.Key] = l.Value
		}
	}
	for _, list := range []struct{ file, level string }{
		{"linux-10g", "the Linux list"}, {"xenserver-10g", "the XenServer list"},
		{"tuned-network-throughput", "tuned's profile"}, {"esnet-10g", "ESnet's advice"},
	} {
		text, err := studies.List(list.file)
		if err != nil {
			t.Fatal(err)
		}
		f := settingfile.Read(list.file, text, "")
		files = append(files, f)
		add(list.level, kept(f))
	}
	whole := kept(files...)
	add(settingfile.AsItIs, nil)
	add(settingfile.TheList, whole)
	add(settingfile.OffAgain, nil)
	against := map[string]string{}
	for i, l := range whole {
		add("only "+l.Key, []settingfile.Line{l})
		add("without "+l.Key, slices.Delete(slices.Clone(whole), i, i+1))
		against["without "+l.Key] = settingfile.TheList
	}
	i := slices.IndexFunc(s.Factors, func(f study.Factor) bool { return f.Name == settingfile.Factor })
	if i < 0 || len(s.Factors[i].Levels) != len(want) || s.Factors[i].Baseline != settingfile.AsItIs {
		t.Fatalf("the study's factors: %+v", s.Factors)
	}
	for _, l := range s.Factors[i].Levels {
		if l.Against != against[l.Name] {
			t.Errorf("%s is against %q, want %q", l.Name, l.Against, against[l.Name])
		}
		for _, host := range []string{"host1", "host2", "host3", "host4"} {
			got := map[string]string{}
			for _, set := range l.Settings {
				for _, one := range set.Sysctl {
					if set.Host == host {
						got[one.Key] = one.Value
					}
				}
			}
			if !maps.Equal(got, want[l.Name]) {
				t.Errorf("%s on %s sets\n%v, want\n%v", l.Name, host, got, want[l.Name])
			}
		}
	}
}

// TestTenGigCanTell: whatever the kernel makes of a buffer, between half and all of
// it, on the long fat path the receive buffer's maximum and the send buffer's each
// show when they are taken away from the list, and nothing else does anything.
func TestTenGigCanTell(t *testing.T) {
	data, err := studies.Files.ReadFile("ten-gig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("ten-gig.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	const rate = 1e9 * 1448 / 1514
	expected := map[string]record.Prediction{}
	for _, tr := range p.Treatments {
		if tr.Levels["path"] != "long fat" {
			continue
		}
		f := tr.Flows[0]
		trial := &record.Trial{Flows: []record.Flow{{
			From: f.Opener, To: f.Acceptor, Connected: true, CongestionControl: f.CongestionControl, LimitBps: rate,
			Path: []string{f.Opener + ".eth0", f.Acceptor + ".eth0"}, SenderInfo: &netstate.TCPInfo{SndMSS: 1448,
				Options: 7},
		}}}
		for _, name := range []string{f.Opener, f.Acceptor} {
			h, _ := s.Topology.Host(name)
			reading := netstate.HostReading{Host: name, Snapshot: netstate.Snapshot{Sysctls: map[string]string{}}}
			for _, one := range h.Sysctls {
				reading.Snapshot.Sysctls[one.Key] = one.Value
			}
			for _, set := range tr.Settings {
				for _, one := range set.Sysctl {
					if set.Host == name {
						reading.Snapshot.Sysctls[one.Key] = one.Value
					}
				}
			}
			trial.Hosts = append(trial.Hosts, reading)
		}
		predicted := bottleneck.Predict(trial.Flows, trial.Hosts, &s.Topology, []flow.Spec{f.Spec})[0]
		if predicted == nil {
			t.Fatalf("%s: nothing is predicted", tr.Name)
		}
		expected[tr.Levels["settings"]] = *predicted
		if window := tr.Workload.Duration.Seconds(); window < 50*predicted.RTTS {
			t.Errorf("%s: a window of %g s is too short to find what held the flow back", tr.Name, window)
		}
	}
	const rmem, wmem = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"
	asItIs, list := expected[settingfile.AsItIs], expected[settingfile.TheList]
	if asItIs.LimitedBy != bottleneck.SendBuffer || list.LimitedBy != bottleneck.FullLink || list.LowBps < 0.99*rate ||
		asItIs.HighBps > 0.7*rate {
		t.Errorf("as it is %+v, the list %+v", asItIs, list)
	}
	if e := expected["only "+rmem]; !reflect.DeepEqual(e, asItIs) {
		t.Errorf("the receive buffer alone: %+v, as it is %+v", e, asItIs)
	}
	for _, key := range []string{rmem, wmem} {
		if e := expected["without "+key]; e.HighBps > 0.9*list.LowBps {
			t.Errorf("without %s the list may carry as much: %+v, %s", key, e, unit.FormatRate(list.LowBps))
		}
	}
	others := 0
	for level, e := range expected {
		switch {
		case strings.HasSuffix(level, rmem), strings.HasSuffix(level, wmem):
		case strings.HasPrefix(level, "only ") && !reflect.DeepEqual(e, asItIs),
			strings.HasPrefix(level, "without ") && !reflect.DeepEqual(e, list):
			t.Errorf("%s: %+v", level, e)
		case strings.HasPrefix(level, "only "):
			others++
		}
	}
	if others < 5 {
		t.Errorf("%d settings do nothing; want five at least", others)
	}
}
