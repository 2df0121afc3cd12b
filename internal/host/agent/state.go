package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/hoststate"
	"linerate/internal/host/probe"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/syntax"
)

// Bounds of what a snapshot or a sample is asked for.
const (
	mostPeers     = 8
	longest       = time.Hour              // between two readings
	longestLLDP   = 2 * time.Minute        // for LLDP frames, which are sent every 30 s
	leastInterval = 100 * time.Millisecond // between two samples
)

// hostState probes peers, and reads the host's network state.
func (a *agent) hostState(ctx context.Context, r message.SnapshotRequest) (netstate.HostSnapshot, error) {
	over := time.Duration(r.OverNs)
	if over < 0 || over > longest || len(r.Peers) > mostPeers || r.Port < 0 || r.Port > 65535 {
		return netstate.HostSnapshot{}, bus.Coded(message.OutOfBounds, fmt.Errorf(
			"a snapshot over %v of %d peers: expected 0 to %v, and at most %d", over, len(r.Peers), longest, mostPeers))
	}
	heard := time.Duration(r.LLDPNs)
	if heard < 0 || heard > longestLLDP {
		return netstate.HostSnapshot{}, bus.Coded(message.OutOfBounds, fmt.Errorf(
			"receiving LLDP for %v: expected 0 to %v", heard, longestLLDP))
	}
	var probes []netstate.Probe
	for _, peer := range r.Peers {
		p, err := probe.Run(ctx, peer, probe.Options{Port: r.Port})
		if err != nil {
			return netstate.HostSnapshot{}, fmt.Errorf("--probe %s: %w", peer, err)
		}
		probes = append(probes, p)
	}
	s, err := hoststate.Read(ctx, hoststate.Options{Name: r.Name, Over: over, LLDP: heard})
	s.State.Probes = probes
	return s, err
}

// sampleHost waits for the next sample of the host. Who asks at another interval begins anew.
func (a *agent) sampleHost(ctx context.Context, r message.SampleRequest) (record.HostSample, error) {
	every := time.Duration(r.IntervalNs)
	if every < leastInterval || every > longest {
		return record.HostSample{}, bus.Coded(message.OutOfBounds, fmt.Errorf(
			"a sample every %v: expected %v to %v", every, leastInterval, longest))
	}
	if !a.sampling.TryLock() {
		return record.HostSample{}, bus.Coded(message.Busy, errors.New("another sample is being waited for"))
	}
	defer a.sampling.Unlock()
	if a.sampler == nil || a.every != every {
		if a.sampler != nil {
			a.sampler.Close()
		}
		var err error
		if a.sampler, err = hoststate.NewSampler(r.Name, every); err != nil {
			a.sampler = nil
			return record.HostSample{}, err
		}
		a.every = every
	}
	s, err := a.sampler.Next(ctx)
	s.Missing = append(s.Missing, syntax.Prune(&s)...)
	return s, err
}
