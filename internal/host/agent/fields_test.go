package agent

import (
	"context"
	"encoding/json"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/budget"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// fields is how each field of a client's requests is held to a bound: by the resource that
// it is taken from, or as the text says. TestFields fails for a field that is not here.
var fields = map[string]any{
	"FlowRequest.ID":        "at most longestID bytes",
	"FlowRequest.Sends":     "two values",
	"FlowRequest.Local":     "refused",
	"FlowRequest.LocalPort": "not used by the end that accepts",
	"FlowRequest.Remote":    "refused",
	"FlowRequest.Ports":     "not used by the end that accepts",
	"FlowRequest.Cookie":    "16 bytes",
	"FlowRequest.Process":   "refused",
	"FlowRequest.Foreign":   "refused",
	"FlowRequest.Host":      "refused",

	"Spec.Protocol": "one of a list", "Spec.Direction": "one of a list", "Spec.Destinations": "one of a list",
	"Spec.Mode": "one of a list", "Spec.SourcePorts": "one of a list", "Spec.Tool": "one of a list",
	"Spec.ToolArgs":          "not used without a process",
	"Spec.Streams":           "not used: each flow is requested by itself",
	"Spec.Copies":            "not used: each flow is requested by itself",
	"Spec.CongestionControl": "one that the kernel has",
	"Spec.NoDelay":           "two values", "Spec.BindNoPort": "two values", "Spec.Follow": "two values",
	"Spec.MSS": "bounds of flow.Options", "Spec.DSCP": "64 values", "Spec.Datagram": "bounds of flow.Options",
	"Spec.Request": "bounds of flow.Options", "Spec.Response": "bounds of flow.Options",
	"Spec.Frame": "not used by the end that receives; sending is refused", "Spec.Tuples": "refused beyond one",
	"Spec.Pace":    "not used by the end that accepts",
	"Spec.RateCap": "waits end with the flow", "Spec.WriteCap": "waits end with the flow",
	"Spec.ReadCap": "waits end with the flow",
	"Spec.Window":  budget.Buffers, "Spec.SendBuffer": budget.Buffers, "Spec.ReceiveBuffer": budget.Buffers,
	"Spec.Connections": budget.Connections, "Spec.Threads": budget.Threads, "Spec.Poll": budget.Polling,

	"Spec.Arrivals": "one of a list", "Spec.TLS": "one of a list", "Spec.Query": "one of a list",
	"Spec.Insecure": "two values",
	"Spec.Pipeline": budget.Memory, "Spec.PerConnection": "not used by the end that accepts",
	"Spec.Think": "at most ten seconds, and the flow's end", "Spec.Timeout": "not used by the end that accepts",
	"Spec.Names": "the size of a request", "Spec.Path": "not used by the end that accepts",
	"Spec.Service": "not used by an agent", "Spec.Zeros": "the size of a request; not used by an agent",

	"ReadyRequest.TimeoutNs": "at most idle", "ReadyRequest.Unused": "the size of a request",

	"WindowRequest.StartNs": "at most soon", "WindowRequest.BeginNs": "between start and end",
	"WindowRequest.EndNs": "Bounds.DurationS", "WindowRequest.StopNs": "a second after the end",
	"WindowRequest.SampleNs": budget.Samples,
	"WindowRequest.Lookups":  "dropped", "WindowRequest.Watch": "dropped", "WindowRequest.Marks": "dropped",
	"WindowRequest.Sysctls": "dropped", "WindowRequest.Events": "dropped", "WindowRequest.KeepLatest": "dropped",
	"WindowRequest.Machine": "dropped", "WindowRequest.Brief": "dropped",

	"CutRequest.EndNs": "within the window", "CutRequest.StopNs": "within the window",
}

var requestTypes = []reflect.Type{
	reflect.TypeFor[message.FlowRequest](), reflect.TypeFor[flow.Spec](), reflect.TypeFor[message.ReadyRequest](),
	reflect.TypeFor[message.WindowRequest](), reflect.TypeFor[message.CutRequest](),
}

// TestFields: every field of a client's requests is held to a bound.
func TestFields(t *testing.T) {
	var there []string
	for _, of := range requestTypes {
		for i := range of.NumField() {
			if f := of.Field(i); !f.Anonymous {
				there = append(there, of.Name()+"."+f.Name)
			}
		}
	}
	for _, name := range there {
		if fields[name] == nil {
			t.Errorf("%s: how is it held to a bound?", name)
		}
	}
	for name := range fields {
		if !slices.Contains(there, name) {
			t.Errorf("%s is no field of a client's requests", name)
		}
	}
}

// extremes are values that bounds and arithmetic may have missed.
var extremes = []float64{0, 1, -1, 1e-300, 1e-6, 3, 255, 65_535, 65_536, 1 << 31, 1<<63 - 1024, -(1 << 62), 1e300,
	math.Inf(1), math.NaN()}

// each calls f for every number of a structure, with a function that sets it to an extreme
// value.
func each(t *testing.T, of reflect.Type, f func(t *testing.T, set func(structure any))) {
	for i := range of.NumField() {
		if v := reflect.New(of.Field(i).Type).Elem(); !v.CanInt() && !v.CanFloat() {
			continue
		}
		t.Run(of.Field(i).Name, func(t *testing.T) {
			for _, x := range append([]float64{math.MaxFloat64}, extremes...) {
				f(t, func(structure any) {
					switch v := reflect.ValueOf(structure).Elem().Field(i); {
					case v.CanFloat():
						v.SetFloat(x)
					case x == math.MaxFloat64:
						v.SetInt(math.MaxInt64)
					default:
						v.SetInt(int64(x))
					}
				})
			}
		})
	}
}

// TestExtremes: whatever number a request has, it is answered at once or refused, what it
// takes is within the budget, and it is given back.
func TestExtremes(t *testing.T) {
	here(t)
	wide := message.Bounds{Flows: 3, DurationS: 0.2, Connections: 8}
	b := budget.New(1, wide)
	account, err := b.Admit(netip.MustParseAddr("192.0.2.1"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewClient(account, wide, socket.Access{}, func() netstate.OtherFlows { return netstate.OtherFlows{} })
	if err != nil {
		t.Fatal(err)
	}
	defer g.Discard()
	within := func(t *testing.T, what string, f func(context.Context)) {
		t.Helper()
		done := make(chan struct{})
		go func() {
			defer close(done)
			f(t.Context())
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s goes on", what)
		}
	}
	for _, protocol := range flow.Names(func(flow.Protocol) bool { return true }) {
		t.Run(protocol, func(t *testing.T) {
			each(t, reflect.TypeFor[flow.Spec](), func(t *testing.T, set func(any)) {
				o := message.FlowRequest{ID: "a", Cookie: greeting.NewCookie(), Spec: flow.Spec{Protocol: protocol}}
				set(&o.Spec)
				data, err := json.Marshal([]message.FlowRequest{o})
				if err != nil {
					return // JSON has no such number
				}
				within(t, "listen "+string(data), func(ctx context.Context) {
					_, _ = g.listen(ctx, data)
					for r, n := range b.Used() {
						if most := b.Each[r]; most > 0 && n > most {
							t.Errorf("%s has taken %d %s, the bound is %d", data, n, budget.Resource(r), most)
						}
					}
					_, _ = g.close(ctx, struct{}{})
				})
			})
		})
	}
	each(t, reflect.TypeFor[message.WindowRequest](), func(t *testing.T, set func(any)) {
		at := sched.Now() + 2e6
		w := message.WindowRequest{StartNs: at, BeginNs: at, EndNs: at + 2e6, StopNs: at + 2e6, SampleNs: 1e6}
		set(&w)
		within(t, "window", func(ctx context.Context) {
			_, _ = g.window(ctx, w)
			_, _ = g.close(ctx, struct{}{})
		})
	})
	each(t, reflect.TypeFor[message.ReadyRequest](), func(t *testing.T, set func(any)) {
		var r message.ReadyRequest
		set(&r)
		within(t, "ready", func(ctx context.Context) { _, _ = g.ready(ctx, r) })
	})
	account.Close()
	if u := b.Used(); u != (budget.Use{}) {
		t.Errorf("the client has left, and %v is in use", u)
	}
}
