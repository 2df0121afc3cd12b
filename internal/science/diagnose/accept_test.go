package diagnose

import (
	"testing"

	"linerate/internal/model/record"
)

// TestAccept: an accepted finding is apart until its last day has passed, on its host alone,
// and what it explained is a finding by itself.
func TestAccept(t *testing.T) {
	full := func(name string, n int) record.HostSnapshot {
		s := hostNamed(name, n)
		s.State.Listeners = []record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 17, Backlog: 16}}
		s.Reading.End.SNMP["TcpExt.ListenOverflows"] = 5
		return s
	}
	evaluated := func(day string, accepted ...record.AcceptedRule) (found, apart string) {
		e := Hosts([]record.HostSnapshot{full("nas", 15), full("client", 16)})
		Accept(&e, accepted, day)
		for _, f := range e.Findings {
			found += f.ID + " " + f.Host + " " + f.ExplainedBy + "; "
		}
		for _, f := range e.Accepted {
			apart += f.ID + " " + f.Host + " " + f.Until + "; "
		}
		return found, apart
	}
	queue := record.AcceptedRule{Rule: "accept-queue-full", Host: "nas", Until: "2027-01-31", Because: "a test"}
	all, none := evaluated("2027-01-31")
	if none != "" || all != "accept-queue-full nas ; accept-queue-full client ; listen-overflow nas accept-queue-full; listen-overflow client accept-queue-full; " {
		t.Fatal(all, none)
	}
	for _, c := range []struct {
		day          string
		accepted     []record.AcceptedRule
		found, apart string
	}{
		{"2027-01-31", []record.AcceptedRule{queue}, "accept-queue-full client ; listen-overflow nas ; listen-overflow client accept-queue-full; ", "accept-queue-full nas 2027-01-31; "},
		{"2027-02-01", []record.AcceptedRule{queue}, all, ""},
		{"2027-01-01", []record.AcceptedRule{{Rule: "listen-overflow", Until: "2028-01-01"}}, "accept-queue-full nas ; accept-queue-full client ; ", "listen-overflow nas 2028-01-01; listen-overflow client 2028-01-01; "},
		{"2027-01-01", []record.AcceptedRule{{Rule: "accept-queue-full", Until: "2029-01-01"}, queue}, "listen-overflow nas ; listen-overflow client ; ", "accept-queue-full nas 2027-01-31; accept-queue-full client 2029-01-01; "},
		{"2027-01-01", []record.AcceptedRule{{Rule: "accept-queue-full", Host: "other", Until: "2028-01-01"}}, all, ""},
	} {
		if found, apart := evaluated(c.day, c.accepted...); found != c.found || apart != c.apart {
			t.Errorf("%s %v:\n%s\n%s", c.day, c.accepted, found, apart)
		}
	}
}
