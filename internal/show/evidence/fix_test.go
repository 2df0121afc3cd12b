package evidence

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/study"
)

// TestFixAdvice: under the commands of a fix stands what they leave to be done.
func TestFixAdvice(t *testing.T) {
	const file = `
study: nas
topology:
  hosts:
    nas: {interfaces: {eth0: {addresses: [192.168.1.10/24]}}}
    client: {interfaces: {eth0: {addresses: [192.168.1.101/24]}}}
  links: [{from: nas, to: client, rate: 1gbit}]
workload:
  flows: [{from: client, to: nas}]
factors:
  arp:
    levels:
      as it is: {}
      arp: {settings: [{host: nas, sysctl: {net.ipv4.conf.all.arp_ignore: 1}}]}
`
	s, err := study.Parse("nas.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	run := &record.Run{ID: "nas-7", Study: "nas", Status: "complete", StudyFile: file, Topology: s.Topology,
		Treatments: []record.Treatment{{Name: "arp", Levels: map[string]string{"arp": "arp"}, Best: true}}}
	blocks := Fix(run)
	if len(blocks) != 3 || !strings.Contains(fmt.Sprint(blocks[2]),
		"on client: ip neigh flush to 192.168.1.0/24 dev eth0") {
		t.Errorf("%+v", blocks)
	}
}
