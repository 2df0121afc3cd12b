package export

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// manyFlows is a run as large as ip-alias: 36 trials, each with 254 flows that were
// sampled 50 times.
func manyFlows() *record.Run {
	run := sciencetest.Run(7, 18)
	run.Trials = run.Trials[:36]
	for i := range run.Trials {
		t := &run.Trials[i]
		like := t.Flows[0]
		t.Flows = nil
		for n := range 254 {
			f := like
			f.ID = fmt.Sprint("f", n)
			f.SenderInfo, f.ReceiverInfo, f.Bins = &netstate.TCPInfo{RTTUs: 40}, &netstate.TCPInfo{}, make([]int64, 50)
			t.Flows = append(t.Flows, f)
			t.Tools = append(t.Tools, record.ToolRun{
				ID: f.ID, Tool: "iperf", Client: "client", Server: "server", ReportedBps: 4e6, GoodputBps: 3e6,
				Output: strings.Repeat("0.0000-10.8548 sec 8650812 Bytes\n", 20),
			})
		}
		t.Tools[7].Error = "no answer"
		for h := range t.Hosts {
			sample := netstate.Sample{Interfaces: t.Hosts[h].End.Interfaces}
			for _, f := range t.Flows {
				sample.Flows = append(sample.Flows, netstate.FlowSample{ID: f.ID, ReceivedBytes: 1 << 40, RTTUs: 40})
			}
			for range 50 {
				t.Hosts[h].Series = append(t.Hosts[h].Series, sample)
			}
		}
	}
	conclude.Conclude(run)
	return run
}

// TestDocumentCanBeOpened: a run of nine thousand flows, each with a process of its own, is below 2 MB, and its trials'
// sums are still there.
func TestDocumentCanBeOpened(t *testing.T) {
	run := manyFlows()
	var out bytes.Buffer
	if err := JSON(&out, run); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 2_000_000 {
		t.Errorf("%d bytes", out.Len())
	}
	var d struct {
		record.Run
		Trials []struct {
			Shown  bool          `json:"shown"`
			Flows  []record.Flow `json:"flows"`
			Groups []flowGroup   `json:"flow_groups"`
			Tools  []toolGroup   `json:"tool_groups"`
		} `json:"trials"`
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d.Treatments, run.Treatments) || !reflect.DeepEqual(d.Effects, run.Effects) ||
		!reflect.DeepEqual(d.Findings, run.Findings) || len(d.Trust) != len(run.Trust) {
		t.Error("what the report shows is not the run's")
	}
	shown := 0
	for i, trial := range d.Trials {
		n, received := 0, int64(0)
		for _, g := range trial.Groups {
			n, received = n+g.Flows, received+g.ReceivedBytes
		}
		var want int64
		for _, f := range run.Trials[i].Flows {
			want += f.ReceivedBytes
		}
		if n != 254 || received != want || len(trial.Flows) != 0 {
			t.Errorf("trial %d: %d flows, %d bytes, want %d", i, n, received, want)
		}
		if g := trial.Tools; len(g) != 1 || g[0].Processes != 254 || g[0].ReportedBps != 254*4e6 || g[0].Failed != 1 ||
			g[0].Example.ID != "f7" {
			t.Errorf("trial %d: processes %+v", i, g)
		}
		if trial.Shown {
			shown++
		}
	}
	if shown != len(d.Treatments) {
		t.Errorf("%d trials are shown of %d treatments", shown, len(d.Treatments))
	}
}

// TestDocumentOfFewFlows: flows are listed one by one, without TCP_INFO.
func TestDocumentOfFewFlows(t *testing.T) {
	run := sciencetest.Run(7, 2)
	conclude.Conclude(run)
	var out bytes.Buffer
	if err := JSON(&out, run); err != nil {
		t.Fatal(err)
	}
	var d record.Run
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	for i, trial := range d.Trials {
		if len(trial.Flows) != len(run.Trials[i].Flows) ||
			trial.Flows[0].GoodputBps != run.Trials[i].Flows[0].GoodputBps || trial.Flows[0].SenderInfo != nil {
			t.Errorf("trial %d: %+v", i, trial.Flows)
		}
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, `"id": "f1"`) && !strings.Contains(line, `"goodput_bps"`) {
			t.Errorf("a flow takes more than a line: %s", line)
		}
	}
}

// TestTrials: nothing is lost of a trial, samples included.
func TestTrials(t *testing.T) {
	run := sciencetest.Run(7, 2)
	var out bytes.Buffer
	if err := Trials(&out, run); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(z)
	for i := range run.Trials {
		var got record.Trial
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(run.Trials[i])
		if again, _ := json.Marshal(got); !bytes.Equal(again, want) {
			t.Errorf("trial %d differs", i)
		}
	}
	if d.More() {
		t.Error("more trials than the run has")
	}
}

// FuzzIndented: white space is all that Indented adds.
func FuzzIndented(f *testing.F) {
	for _, text := range []string{`{"a":[1,2,{"b":"x, y: \"z\""}],"c":{},"d":[],"e":[[1],[2]],"f":null}`, `[]`, `"s"`,
		`{"a":{"b":[[[1]]]}}`, `1e9`, `[{}]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		want, err := json.Marshal(v)
		if err != nil {
			return
		}
		var out, got bytes.Buffer
		if err := Indented(&out, json.RawMessage(want)); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&got, out.Bytes()); err != nil || got.String() != string(want) {
			t.Errorf("%s\nbecame\n%s\n%v", want, out.String(), err)
		}
	})
}
