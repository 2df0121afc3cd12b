package wording

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/bottleneck"
)

// looked is what a test gave to package bottleneck.
type looked struct {
	Test     string
	Flows    []record.Flow
	Hosts    []netstate.HostReading
	WindowS  float64
	Topology *topology.Topology
	Complete bool
	Predict  bool // instead of Attribute
	Options  []flow.Spec
}

// TestFlows compares what limits all flows of testdata/flows.jsonl.gz, which has an input for nearly
// each of the reasons, with testdata/flows.golden, as they are after
// they were stored. With -update it writes that file.
func TestFlows(t *testing.T) {
	var b strings.Builder
	for i, in := range inputs[looked](t, "flows.jsonl.gz") {
		fmt.Fprintf(&b, "== %s (%d)\n", in.Test, i)
		if in.Predict {
			for _, p := range bottleneck.Predict(in.Flows, in.Hosts, in.Topology, in.Options) {
				if p != nil {
					fmt.Fprintf(&b, "%s from %.6g to %.6g: %s\n", p.LimitedBy, p.LowBps, p.HighBps,
						Limited(stored(t, p.Facts), ""))
				}
			}
			continue
		}
		for _, v := range bottleneck.Attribute(record.Trial{Flows: in.Flows, Hosts: in.Hosts, WindowS: in.WindowS},
			in.Topology, in.Complete) {
			fmt.Fprintf(&b, "%s, %.6g refused: %s\n", v.By, v.Refused, Limited(stored(t, v.Facts), ""))
		}
	}
	compare(t, "testdata/flows.golden", b.String())
}

// stored are facts as they are read from a notebook.
func stored(t *testing.T, list []fact.Fact) (read []fact.Fact) {
	t.Helper()
	text, err := json.Marshal(list)
	if err := errors.Join(err, json.Unmarshal(text, &read)); err != nil || !reflect.DeepEqual(read, list) {
		t.Errorf("%v: %s is not read as it was written", err, text)
	}
	return read
}
