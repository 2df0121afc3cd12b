package server

import (
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/host/budget"
	"linerate/internal/kernel/kerneltest"
)

// TestSeveralClients: many stock clients at one server at the same time, each with
// a test of its own.
func TestSeveralClients(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		requireIperf3(t)
		var mu sync.Mutex
		inside, most := 0, 0
		port, visits := open(t, "127.0.0.1", func(o *Options) {
			o.Admit = func(Client, netip.Addr, budget.Use) (func(), error) {
				mu.Lock()
				defer mu.Unlock()
				inside++
				most = max(most, inside)
				return func() {
					mu.Lock()
					defer mu.Unlock()
					inside--
				}, nil
			}
		})
		kinds := []string{"", "-R", "-P 2", "-u", "-u -R", "-u -P 2", "--bidir", "-u --bidir"}
		var all sync.WaitGroup
		for _, kind := range append(kinds, kinds...) {
			all.Go(func() {
				says := client(t, "127.0.0.1", port, nil, strings.Fields(kind+" -t 1 -b 5M")...)
				if says.Error != "" || says.End.Sent.Bytes == 0 || says.End.Received.Bytes == 0 {
					t.Errorf("%q: %s, sent %.0f bytes, received %.0f", kind, says.Error, says.End.Sent.Bytes,
						says.End.Received.Bytes)
				}
			})
		}
		all.Wait()
		for range 2 * len(kinds) {
			if v := visit(t, visits); v.Err != nil || v.Received+v.Sent == 0 {
				t.Errorf("a visit is %+v", v)
			}
		}
		if most < 2 {
			t.Errorf("at most %d clients were inside at a time", most)
		}
	})
}

// TestRefusals: a stock client prints what is not allowed in words of its own, and
// the server's log has the reason.
func TestRefusals(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		requireIperf3(t)
		for _, c := range []struct {
			change              func(*Options)
			arguments           string
			prints, sessionSays string
		}{
			{func(o *Options) { o.Bounds.Flows = 2 }, "-P 3", "number of parallel streams too large",
				"3 streams: this server allows a client 2"},
			{func(o *Options) {
				o.Bounds.DurationS = 1
			}, "-t 5", "test duration too long", "a test of 5s: this server allows 1s (--max-duration)"},
			{func(o *Options) { o.Bounds.RateBps = 1e6 }, "-u -b 2M", "total required bandwidth is larger",
				"on each of 1 streams"},
			{func(o *Options) { o.Allowed = func(netip.Addr) bool { return false } }, "", "test authorization failed",
				"127.0.0.1 is not among the addresses"},
			{func(o *Options) { o.Closed = "not today" }, "", "test authorization failed", "not today"},
			{func(o *Options) {
				o.Admit = func(Client, netip.Addr, budget.Use) (func(), error) {
					return nil, errors.New("the server is full")
				}
			}, "", "the server is busy", "the server is full"},
		} {
			port, visits := open(t, "127.0.0.1", c.change)
			says := client(t, "127.0.0.1", port, nil, strings.Fields(c.arguments)...)
			if !strings.Contains(says.Error, c.prints) {
				t.Errorf("%q: the client prints %q, want %q", c.arguments, says.Error, c.prints)
			}
			var refused Refused
			if v := visit(t, visits); !errors.As(v.Err, &refused) || !strings.Contains(v.Err.Error(), c.sessionSays) {
				t.Errorf("%q: reported is %v, want %q", c.arguments, v.Err, c.sessionSays)
			}
		}
	})
}

// TestMaxRate: a client gets no more than it may, in either direction, and is not
// thrown out for wanting more.
func TestMaxRate(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		requireIperf3(t)
		const rate = 20e6
		for _, arguments := range []string{"-t 1 -P 2", "-t 1 -P 2 -R", "-t 1 -u -b 0 -R"} {
			port, visits := open(t, "127.0.0.1", func(o *Options) { o.Bounds.RateBps = rate })
			if says := client(t, "127.0.0.1", port, nil, strings.Fields(arguments)...); says.Error != "" {
				t.Errorf("%q: %s", arguments, says.Error)
				continue
			}
			v := visit(t, visits)
			most := rate / 8 * (v.RanS + 0.02)
			if moved := v.Received + v.Sent; moved == 0 || float64(moved) > 1.05*most+64<<10 {
				t.Errorf("%q: %d bytes in %.2f s at %.0f bit/s", arguments, moved, v.RanS, rate)
			}
		}
	})
}

// TestStockLogins: Debian's client, whose padding is the old one.
func TestStockLogins(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		requireIperf3(t)
		for _, c := range []struct {
			user, password string
			pkcs1          bool
			says           string
		}{
			{"ada", "s3cret", true, ""},
			{"ada", "s3cret", false, "--use-pkcs1-padding"},
			{"ada", "secret", true, "is not known, or the password"},
			{"bob", "s3cret", true, "is not known, or the password"},
			{"", "", true, "no token"},
		} {
			l, _, public := users(t, 10*time.Second, c.pkcs1)
			port, visits := open(t, "127.0.0.1", func(o *Options) { o.Users = l })
			arguments := []string{"-n", "100K"}
			if c.user != "" {
				arguments = append(arguments, "--username", c.user, "--rsa-public-key-path", public)
			}
			says := client(t, "127.0.0.1", port, []string{"IPERF3_PASSWORD=" + c.password}, arguments...)
			v := visit(t, visits)
			if c.says == "" {
				if says.Error != "" || v.Err != nil {
					t.Errorf("%+v: %s, %v", c, says.Error, v.Err)
				}
				continue
			}
			if !strings.Contains(says.Error, "test authorization failed") || v.Err == nil ||
				!strings.Contains(v.Err.Error(), c.says) {
				t.Errorf("%+v: the client prints %q, reported is %v", c, says.Error, v.Err)
			}
		}
	})
}
