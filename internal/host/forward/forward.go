// Package forward measures what a device forwards between two interfaces of this host: the highest rate of
// frames with no more than a given share lost, how long frames take, and the longest burst without loss (RFC
// 2544, sections 26.1, 26.2 and 26.4; RFC 5180 for IPv6).
//
// path.go finds the addresses of frames, trial.go sends at one rate and counts what arrives, this file searches
// for the rate and burst.go for the length of a burst (package rfc2544 of internal/science). Package frames
// builds the frames; the kernel counts and then discards them.
package forward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"linerate/internal/host/frames"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/packet"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/science/rfc2544"
	"linerate/internal/science/stats"
)

// Options selects what to measure.
type Options struct {
	// Interface transmits the frames; they should arrive at Receive.
	Interface, Receive string
	// Router is the device's address on Interface's link; zero if the device forwards by MAC address, as a
	// switch does. MAC is the device's MAC address; zero: it is resolved.
	Router netip.Addr
	MAC    net.HardwareAddr
	// From is the source address of the frames; they cycle through the destinations To. Zero: the addresses of
	// the interfaces, or of the benchmark networks if these have none.
	From   netip.Addr
	To     netip.Prefix
	Frames []string // sizes in the syntax of flow.ParseFrames; each is measured separately
	Tuples int      // number of address and port combinations; 0: one
	Losses []float64
	// Search is the length of the trials that search, Confirm that of the trials that confirm.
	Search, Confirm time.Duration
	Resolution      float64
	Repeats         int
	Bursts          int     // number of searches for the longest burst without loss; needs a loss of 0
	Most            float64 // maximum rate in frames per second; 0: no limit
	// Device reads the device's own counters; nil: they are not read.
	Device Device
	// Tell is called before each trial with a description of it.
	Tell func(text string)
}

// Device reads the counters of the two ports of the device that frames pass.
type Device interface {
	// Find finds the ports by the MAC addresses of the transmitting and the receiving interface. linkBps is the
	// rate of their links; 0 if unknown.
	Find(ctx context.Context, transmits, receives string, linkBps float64) error
	// Watch starts reading the counters for a trial of the given length. The returned function stops that and
	// returns the counts of the time between.
	Watch(ctx context.Context, length time.Duration) func() record.SwitchReading
}

// Run measures every size. If the context ends, the result has the sizes finished by then.
func Run(ctx context.Context, o Options) (*record.Forward, error) {
	p, err := findPath(ctx, o)
	if err != nil {
		return nil, err
	}
	out := &record.Forward{
		Schema: "linerate.forward/v1", Interface: o.Interface, Receive: o.Receive,
		ToMAC: net.HardwareAddr(p.To[:]).String(), Tuples: o.Tuples,
		From: p.Local.Addr().String(), To: p.destinations(), LinkBps: p.linkBps, Sizes: []record.ForwardSize{},
	}
	if o.Router.IsValid() {
		out.Router = o.Router.String()
	}
	t, err := newTester(p, o)
	if err != nil {
		return nil, err
	}
	defer t.close()
	out.Mode, out.Refused = t.out.Mode()
	for i, text := range o.Frames {
		if err = t.use(text, o); err == nil {
			err = t.reaches(ctx)
		}
		if i == 0 && err == nil && o.Device != nil {
			err = o.Device.Find(ctx, net.HardwareAddr(p.From[:]).String(), net.HardwareAddr(p.reverse.From[:]).String(),
				p.linkBps)
		}
		if err == nil {
			var size record.ForwardSize
			size, err = t.measure(ctx, text, o)
			if len(size.Goals) > 0 {
				out.Sizes = append(out.Sizes, size)
			}
		}
		if err != nil {
			break
		}
	}
	drops, dropErr := t.drops()
	out.Drops = drops
	return out, errors.Join(err, dropErr)
}

// measure searches for the rate of each goal. A trial informs all goals, so each search begins where the
// previous one ended.
func (t *tester) measure(ctx context.Context, text string, o Options) (record.ForwardSize, error) {
	size := record.ForwardSize{Frame: text, Bytes: t.frameBits / 8}
	var readings []*record.SwitchReading // one per trial
	var made []record.LossTrial
	var latencies []*hdrhistogram.Histogram
	losses := slices.Clone(o.Losses)
	slices.Sort(losses)
	for _, loss := range losses {
		search := rfc2544.Search{Most: o.Most * t.frameBits, Loss: loss, Resolution: o.Resolution, Repeats: o.Repeats,
			Earlier: len(made)}
		for i := range made {
			made[i].Pass = passes(made[i], loss)
		}
		for {
			rate, confirms, more := search.Next(made)
			if !more {
				break
			}
			length := o.Search
			if confirms {
				length = o.Confirm
			}
			o.Tell(t.says(text, loss, rate, length, len(made)+1))
			l, delays, reading, err := t.watched(ctx, rate, length, confirms, o)
			if err != nil {
				return size, err
			}
			l.AskedBps, l.Confirms, l.Pass = rate, confirms, passes(l, loss)
			made, latencies, readings = append(made, l), append(latencies, delays), append(readings, reading)
			size.CeilingPerS = max(size.CeilingPerS, l.OfferedBps/t.frameBits)
		}
		goal := record.ForwardGoal{LossFree: *search.Conclude(slices.Clone(made), t.limit())}
		goal.TrialS, goal.ConfirmS = o.Search.Seconds(), o.Confirm.Seconds()
		goal.PacketsPerS, goal.DatagramBytes = goal.RateBps/t.frameBits, int(size.Bytes+0.5)
		if t.linkBps > 0 {
			goal.LineShare = goal.PacketsPerS * (size.Bytes + gap) * 8 / t.linkBps
		}
		if at := goal.ResultTrial - 1; at >= 0 {
			confirmed := stats.NewHistogram()
			for i, l := range made {
				if l.Confirms && l.Pass && l.AskedBps == made[at].AskedBps {
					confirmed.Merge(latencies[i])
				}
			}
			if confirmed.TotalCount() > 0 {
				var err error
				if goal.Latency, err = stats.Distribution(confirmed); err != nil {
					return size, err
				}
			}
			goal.Device = t.device(made[at], readings[at])
		}
		slowest := slices.IndexFunc(made, func(l record.LossTrial) bool { return !l.Pass })
		for i, l := range made {
			if !l.Pass && l.OfferedBps < made[slowest].OfferedBps {
				slowest = i
			}
		}
		if o.Device != nil && slowest >= 0 { // once more, for as long as the device's counters need
			rate := made[slowest].AskedBps
			o.Tell(t.says(text, loss, rate, o.Confirm, len(made)+1))
			l, _, reading, err := t.watched(ctx, rate, o.Confirm, true, o)
			if err != nil {
				return size, err
			}
			goal.DeviceLosing = t.device(l, reading)
		}
		size.Goals = append(size.Goals, goal)
	}
	if o.Bursts > 0 {
		var err error
		if size.Bursts, err = t.bursts(ctx, size, size.Goals[0], o); err != nil {
			return size, err
		}
	}
	return size, nil
}

// watched runs trial and, if it confirms a rate, reads the device's counters meanwhile.
func (t *tester) watched(ctx context.Context, rate float64, length time.Duration, confirms bool, o Options) (
	l record.LossTrial, delays *hdrhistogram.Histogram, reading *record.SwitchReading, err error) {
	if o.Device != nil && confirms {
		end := o.Device.Watch(ctx, length)
		defer func() {
			r := end()
			reading = &r
		}()
	}
	l, delays, err = t.trial(ctx, rate/t.frameBits, length)
	return l, delays, nil, err
}

// device returns what the device counted in a trial; nil if it was not read.
func (t *tester) device(l record.LossTrial, reading *record.SwitchReading) *record.ForwardDevice {
	if reading == nil {
		return nil
	}
	return &record.ForwardDevice{SentPerS: l.OfferedBps / t.frameBits, ArrivedPerS: l.ReceivedBps / t.frameBits,
		Reading: *reading}
}

// passes reports whether frames arrived and no more were lost than the goal allows.
func passes(l record.LossTrial, loss float64) bool { return l.ReceivedBps > 0 && l.LostShare <= loss }

// limit returns the link's capacity in frames per second at this frame size; 0 if unknown.
func (t *tester) limit() float64 { return t.linkBps * t.frameBits / (t.frameBits + 8*gap) }

func (t *tester) says(text string, loss, rate float64, length time.Duration, number int) string {
	asked := "as fast as possible"
	if rate > 0 {
		asked = fmt.Sprintf("%.0f/s", rate/t.frameBits)
	}
	return fmt.Sprintf("%s bytes, loss of %.3g %% or less, trial %d: %s for %v", text, 100*loss, number, asked, length)
}

// use selects the frame size of the next trials.
func (t *tester) use(text string, o Options) error {
	spec := flow.Spec{Frame: text}
	payloads := spec.FramePayloads(t.Remote.Addr().Is6())
	fill := make([]byte, packet.MaxBytes)
	socket.FillRandom(fill)
	maker, err := frames.New(t.Path, frames.Options{Payloads: payloads, Tuples: o.Tuples, Destinations: t.to,
		Fill: fill})
	if err != nil {
		return err
	}
	t.maker = maker
	bytes := 0
	for i := range payloads {
		bytes += maker.Bytes(uint64(i)) + checkSequence
	}
	t.frameBits = 8 * float64(bytes) / float64(len(payloads))
	return nil
}
