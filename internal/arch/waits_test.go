package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// What may wait where clients are served and hosts controlled: a wait under a lock stops
// everybody who needs the lock, and one sleep without an end keeps a server from ending.

// boundedSleeps are the files that sleep, with what bounds it. The others wait on a channel
// with a timer and a context, or in the kernel with a deadline.
var boundedSleeps = map[string]string{
	"internal/control/measure/iperf3.go":    "a pause between two tests, tried a few times",
	"internal/host/agent/window.go":         "slices of the window",
	"internal/host/attack/flood.go":         "checkEvery at most",
	"internal/host/apply/address.go":        "until settleTimeout",
	"internal/host/apply/dependents.go":     "until settleTimeout",
	"internal/host/apply/guard.go":          "until the lease ends",
	"internal/host/datagram/sender.go":      "retryDelay, then the flow's closing is looked at",
	"internal/host/application/schedule.go": "flowset.CheckInterval at most",
	"internal/host/flowset/set.go": "CheckInterval at most; the window's beginning is bounded by " +
		"the request",
	"internal/host/handshake/listener.go":          "a millisecond after a temporary error",
	"internal/host/iperf3/client/end.go":           "milliseconds",
	"internal/host/iperf3/server/test.go":          "milliseconds, what is left of a datagram's turn",
	"internal/host/openmetrics/endpoint.go":        "acceptPause",
	"internal/host/transmit/transmit.go":           "50 ms at most, then the context is looked at",
	"internal/host/serve/accept_linux.go":          "a millisecond after a failed accept",
	"internal/host/transaction/requester_linux.go": "checkInterval at most",
	"internal/host/transaction/schedule.go":        "checkInterval at most",
}

// lockedWaits are functions that wait under a lock, with the reason.
var lockedWaits = map[string]string{}

// waitingLayers are where TestWaits looks.
var waitingLayers = []string{"internal/bus", "internal/control", "internal/host"}

// TestWaits: no lock is held while its holder sleeps, waits for goroutines or processes, or
// calls an agent, and each sleep has a bound that is written down.
func TestWaits(t *testing.T) {
	sleeps, waits := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		for _, complaint := range waitViolations(s) {
			switch name, what, _ := strings.Cut(complaint, ": "); {
			case boundedSleeps[s.path] != "" && strings.HasPrefix(what, "sleeps"):
				sleeps[s.path] = true
			case lockedWaits[name] != "":
				waits[name] = true
			default:
				t.Error(complaint)
			}
		}
	}
	for path := range boundedSleeps {
		if !sleeps[path] {
			t.Errorf("boundedSleeps has %s, which does not sleep", path)
		}
	}
	for name := range lockedWaits {
		if !waits[name] {
			t.Errorf("lockedWaits has %s, which does not wait under a lock", name)
		}
	}
}

// waitViolations lists the sleeps of a file, and what waits under a lock.
func waitViolations(s source) (complaints []string) {
	layer := false
	for _, l := range waitingLayers {
		layer = layer || within(s.dir, l)
	}
	if s.test || isKit(s.dir) || !layer {
		return nil
	}
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		name := s.path + " " + f.Name.Name
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if x, method := callee(call); x == "time" && method == "Sleep" || x == "sched" &&
					method == "SleepUntil" {
					complaints = append(complaints,
						fmt.Sprintf("%s: sleeps; wait with a context, or say in boundedSleeps what bounds it", name))
				}
			}
			return true
		})
		complaints = append(complaints, underLock(name, f.Body)...)
	}
	return complaints
}

// callee is the last two names of what is called: s.mu.Lock() is mu, Lock.
func callee(call *ast.CallExpr) (x, method string) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	switch of := sel.X.(type) {
	case *ast.Ident:
		x = of.Name
	case *ast.SelectorExpr:
		x = of.Sel.Name
	}
	return x, sel.Sel.Name
}

// underLock lists the waits of a function between a Lock and its Unlock, in the order of
// the text. What a function literal does, another goroutine may.
func underLock(name string, body *ast.BlockStmt) (complaints []string) {
	held := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			complaints = append(complaints, underLock(name, n.Body)...)
			return false
		case *ast.DeferStmt:
			return false // an Unlock at the end
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && len(held) > 0 {
				complaints = append(complaints, name+": receives from a channel under a lock")
			}
		case *ast.SelectStmt:
			for _, c := range n.Body.List {
				if c.(*ast.CommClause).Comm == nil { // default: does not wait
					return false
				}
			}
		case *ast.CallExpr:
			switch x, method := callee(n); method {
			case "Lock", "RLock":
				if len(n.Args) == 0 {
					held[x] = true
				}
			case "Unlock", "RUnlock":
				delete(held, x)
			case "Wait", "Call", "Sleep", "SleepUntil":
				if len(held) > 0 {
					complaints = append(complaints, name+": calls "+method+" under a lock")
				}
			}
		}
		return true
	})
	return complaints
}
