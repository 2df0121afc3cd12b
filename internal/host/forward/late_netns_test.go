//go:build linux && !portable

package forward

import (
	"math"
	"testing"
	"time"

	"linerate/internal/host/transmit"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/packet"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
)

const never = math.MaxInt64 // is a frame of a burst too late

// slow is a device that forwards from port 1 to port 2, and holds each frame for a while.
type slow struct {
	delay, spacing time.Duration // from its arrival, and from the frame before it
}

// carry forwards until stop is closed.
func (d slow) carry(t *testing.T, in *packet.Receiver, out *packet.Sender, stop <-chan struct{}) {
	type held struct {
		data []byte
		due  int64
	}
	var queue []held
	for last := int64(0); ; {
		n, err := in.Receive(time.Millisecond)
		if err != nil {
			t.Error(err)
			return
		}
		for i := range n {
			m := in.Frame(i)
			last = max(m.AtNs+int64(d.delay), last+int64(d.spacing))
			queue = append(queue, held{append([]byte(nil), m.Data...), last})
		}
		for len(queue) > 0 && queue[0].due <= sched.Now() {
			room, err := out.Frame(0, len(queue[0].data))
			if err == nil {
				copy(room, queue[0].data)
				_, err = out.Send(0, 1)
			}
			if err != nil {
				t.Error(err)
				return
			}
			queue = queue[1:]
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}

// TestLate: frames are waited for as long as the path delays them and the device holds them,
// but are lost at a rate that fills its queue; those of one trial do not count for another.
func TestLate(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, n := range []string{"1", "2"} {
			kerneltest.Do(t, "ip", "link", "add", "eth"+n, "type", "veth", "peer", "name", "port"+n)
			kerneltest.Do(t, "ip", "link", "set", "eth"+n, "up")
			kerneltest.Do(t, "ip", "link", "set", "port"+n, "up")
		}
		// through has a device carry what body sends.
		through := func(d slow, body func(*tester)) {
			in, err := packet.OpenReceiver("port1", packet.Match{})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			out, err := packet.Open(packet.Options{Interface: "port2", Bytes: packet.MinBytes + 1500})
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			o := Options{Interface: "eth1", Receive: "eth2"}
			p, err := findPath(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			tester, err := newTester(p, o)
			if err != nil {
				t.Fatal(err)
			}
			defer tester.close()
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				d.carry(t, in, out, stop)
			}()
			defer func() { close(stop); <-done }()
			if err = tester.use("64", o); err == nil {
				err = tester.reaches(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			body(tester)
		}
		burst := func(to *tester, frames int64, within time.Duration) record.LossTrial {
			l, _, err := to.send(t.Context(), 0, transmit.Limits{Frames: frames}, within)
			if err != nil || l.Sent != frames {
				t.Fatalf("%+v, %v", l, err)
			}
			return l
		}
		through(slow{delay: 3 * settled}, func(to *tester) {
			if l := burst(to, 20, never); l.Lost != 0 {
				t.Errorf("a path of %v: %+v", 3*settled, l)
			}
			to.delay = 0 // the path has become longer
			for range 5 {
				if l := burst(to, 20, never); l.Lost != 20 {
					t.Errorf("frames of the burst before count: %+v", l)
				}
			}
		})
		spacing := residual / 50
		through(slow{spacing: spacing}, func(to *tester) {
			if l := burst(to, 75, never); l.Lost != 0 {
				t.Errorf("a queue that takes %v: %+v", 75*spacing, l)
			}
			if l := burst(to, 75, residual); l.Lost == 0 || l.Lost > 50 {
				t.Errorf("at a rate: %+v", l)
			}
			if l := burst(to, 1, never); l.Lost != 0 {
				t.Errorf("behind an empty queue: %+v", l)
			}
		})
	})
}
