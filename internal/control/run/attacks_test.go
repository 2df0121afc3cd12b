package run

import (
	"strings"
	"testing"

	"linerate/internal/model/attacks"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// TestAttacksPermitted: a run refuses attacks of a topology with a real host, also if the study's
// check had let them pass, and those that reach beyond the lab unless these are permitted.
func TestAttacksPermitted(t *testing.T) {
	for _, k := range attacks.Kinds {
		spec := attacks.Spec{Kind: k.Name, From: "a", To: "b"}
		treatment := study.Treatment{Workload: study.Workload{Attacks: []attacks.Spec{spec}},
			Attacks: []study.PlannedAttack{{Spec: spec}}}
		c := &conductor{study: &study.Study{}, plan: &study.Plan{Treatments: []study.Treatment{{}, treatment}}}
		if err := c.attacksPermitted(); k.Machine != (err != nil) || err != nil &&
			!strings.Contains(err.Error(), "--allow-machine-settings") {
			t.Errorf("%s in a lab: %v", k.Name, err)
		}
		c.options.AllowMachine = true
		if err := c.attacksPermitted(); err != nil {
			t.Errorf("%s, permitted: %v", k.Name, err)
		}
		c.study.Topology.Hosts = []topology.Host{{Name: "nas", Via: []string{"ssh", "nas"}}}
		if err := c.attacksPermitted(); err == nil ||
			!strings.Contains(err.Error(), "and nas is not made by linerate") {
			t.Errorf("%s with a real host: %v", k.Name, err)
		}
	}
}
