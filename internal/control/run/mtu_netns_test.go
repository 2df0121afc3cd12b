//go:build linux

package run_test

import (
	"encoding/json"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
)

// TestFramesBeyondTheMTU: between hosts with an MTU of 9000 a port with 1500 drops what TCP sends,
// although the kernel lets packets of segmentation offload pass: behind a veth pair, and where a
// delay or losses are applied. A path whose ports take 9000 bytes carries the same.
func TestFramesBeyondTheMTU(t *testing.T) {
	kerneltest.Parallel(t)
	controltest.NeedsTun(t, netlink.HasTun())
	run := controltest.Run(t, controltest.Study{File: controltest.Write(t, `
study: beyond-mtu
topology:
  hosts:
    "a{n=1..4}": {interfaces: {eth0: {addresses: ["10.0.{n}.1/24"]}}}
    "b{n=1..4}": {interfaces: {eth0: {addresses: ["10.0.{n}.2/24"]}}}
  switches: {"s{n=1..4}": {}}
  links:
    - {from: a1.eth0, to: s1, mtu: 9000}
    - {from: a2.eth0, to: s2, mtu: 9000, delay: 1ms, reverse: {mtu: 1500}}
    - {from: a3.eth0, to: s3, mtu: 9000, delay: 1ms, loss: 0.01%, reverse: {mtu: 1500}}
    - {from: a4.eth0, to: s4, mtu: 9000}
    - {from: b1.eth0, to: s1, mtu: 9000, reverse: {mtu: 1500}}
    - {from: "b{n=2..4}.eth0", to: "s{n}", mtu: 9000}
workload:
  duration: 1s
  flows:
    # Six segments of 9000 bytes: one packet of segmentation offload.
    - {from: "a{n=1..4}", to: "b{n}", protocol: rr, request: 53688, nodelay: true}
design: {replicates: 1}
`)})
	for _, f := range run.Trials[0].Flows {
		if passes := f.TransactionsPerS > 0; passes != (f.From == "a4") || !f.Connected {
			t.Errorf("%s → %s: %s", f.From, f.To, controltest.Figures(f))
		}
	}
	if f, found := controltest.Found(run, "path-mtu", run.Treatments[0].Name); !found {
		t.Errorf("no finding path-mtu: %+v", f)
	}
}

// TestPacketTooBigLost: on an IPv6 path with a smaller link whose router sends no Packet Too Big, a connection
// carries nothing, and the finding names the link and the MSS that passes.
func TestPacketTooBigLost(t *testing.T) {
	run := controltest.Run(t, controltest.Study{File: controltest.Write(t, `
study: packet-too-big-lost
topology:
  hosts:
    client:
      interfaces: {eth0: {addresses: ["2001:db8:1::1/64"]}}
      routes: [{to: default, via: near.eth0}]
    near:
      forward: true
      interfaces: {eth0: {addresses: ["2001:db8:1::2/64"]}, eth1: {addresses: ["2001:db8:2::1/64"]}}
      routes: [{to: "2001:db8:3::/64", via: far.eth0}]
      sysctls: {net.ipv6.icmp.ratemask: 0-127, net.ipv6.icmp.ratelimit: 3600000}
    far:
      forward: true
      interfaces: {eth0: {addresses: ["2001:db8:2::2/64"]}, eth1: {addresses: ["2001:db8:3::2/64"]}}
      routes: [{to: "2001:db8:1::/64", via: near.eth1}]
    server:
      interfaces: {eth0: {addresses: ["2001:db8:3::1/64"]}}
      routes: [{to: default, via: far.eth1}]
  links:
    - {from: client, to: near.eth0, rate: 50mbit}
    - {from: near.eth1, to: far.eth0, rate: 50mbit, mtu: 1492}
    - {from: far.eth1, to: server, rate: 50mbit}
workload:
  warmup: 500ms
  duration: 1s
  flows: [{from: client, to: server}]
design: {replicates: 1}
`)})
	if trial := run.Trials[0]; trial.GoodputBps > 0 {
		t.Errorf("%g bit/s", trial.GoodputBps)
	}
	f, found := controltest.Found(run, "path-mtu", run.Treatments[0].Name)
	if text, err := json.Marshal(f); err != nil || !found || !strings.Contains(string(text), `"far.eth0"`) ||
		!strings.Contains(string(text), "1492") || !strings.Contains(string(text), "1432") {
		t.Errorf("%v: %s %v", found, text, err)
	}
}
