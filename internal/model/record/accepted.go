package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// AcceptedSchema is the schema of AcceptedRules as a document.
const AcceptedSchema = "linerate.accepted/v1"

// LargestAccepted bounds AcceptedRules as a document, in bytes.
const LargestAccepted = 8 << 20

// Bounds of what is accepted: the number of rules, and the bytes of a host's name and of a
// reason.
const mostAccepted, longestHost, longestReason = 1000, 255, 500

// AcceptedRules are the findings that the user knows of and accepts, as a document
// (linerate.accepted/v1).
type AcceptedRules struct {
	Schema   string         `json:"schema"`
	Accepted []AcceptedRule `json:"accepted"`
}

// AcceptedRule is a rule whose findings are accepted until a date.
type AcceptedRule struct {
	Rule string `json:"rule"`
	// Host is the one whose findings are accepted, as findings name it; empty: of every host.
	Host string `json:"host,omitempty"`
	// Until is the last day on which they are, in time.DateOnly.
	Until   string `json:"until"`
	Because string `json:"because"`
}

// Covers reports whether a finding is accepted on a day (time.DateOnly).
func (a AcceptedRule) Covers(f Finding, day string) bool {
	return a.Rule == f.ID && (a.Host == "" || a.Host == f.Host) && !a.Ended(day)
}

// Ended reports whether the last day has passed on a day.
func (a AcceptedRule) Ended(day string) bool { return a.Until < day }

// Check returns what is wrong with an acceptance.
func (a AcceptedRule) Check() error {
	if err := CheckDay(a.Until); err != nil {
		return fmt.Errorf("until %w", err)
	}
	for _, field := range []struct {
		name, text string
		most       int
		may        bool // be empty
	}{{"rule", a.Rule, longestHost, false}, {"host", a.Host, longestHost, true},
		{"because", a.Because, longestReason, false}} {
		switch {
		case strings.TrimSpace(field.text) == "" && !field.may:
			return fmt.Errorf("%s is empty: expected a text", field.name)
		case len(field.text) > field.most:
			return fmt.Errorf("%s has %d bytes: expected at most %d", field.name, len(field.text), field.most)
		case !utf8.ValidString(field.text) || strings.ContainsFunc(field.text, func(r rune) bool {
			return !unicode.IsPrint(r)
		}):
			return fmt.Errorf("%s %q: expected a line of printable characters", field.name, field.text)
		}
	}
	return nil
}

// CheckDay returns an error unless a text is a day, as "2027-01-31".
func CheckDay(text string) error {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return fmt.Errorf("%q: expected a date, such as 2027-01-31", text)
	}
	return nil
}

// Put adds an acceptance, in place of that of the same rule and host.
func (r *AcceptedRules) Put(a AcceptedRule) error {
	r.Remove(a.Rule, a.Host)
	if len(r.Accepted) >= mostAccepted {
		return fmt.Errorf("%d findings are accepted: expected at most %d", len(r.Accepted)+1, mostAccepted)
	}
	r.Accepted = append(r.Accepted, a)
	return nil
}

// Remove removes the acceptance of a rule on a host, and reports whether there was one. The
// acceptance of a rule on every host has the host "".
func (r *AcceptedRules) Remove(rule, host string) bool {
	n := len(r.Accepted)
	r.Accepted = slices.DeleteFunc(r.Accepted, func(a AcceptedRule) bool { return a.Rule == rule && a.Host == host })
	return len(r.Accepted) < n
}

// ParseAccepted reads a document of AcceptedRules.
func ParseAccepted(text []byte) (r AcceptedRules, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return AcceptedRules{}, fmt.Errorf("expected accepted findings (schema %s): %w", AcceptedSchema, err)
	}
	switch {
	case r.Schema != AcceptedSchema:
		return AcceptedRules{}, fmt.Errorf("expected accepted findings (schema %s): its schema is %.60q",
			AcceptedSchema, r.Schema)
	case len(r.Accepted) > mostAccepted:
		return AcceptedRules{}, fmt.Errorf("%d findings are accepted: expected at most %d", len(r.Accepted),
			mostAccepted)
	}
	for i, a := range r.Accepted {
		if err := a.Check(); err != nil {
			return AcceptedRules{}, fmt.Errorf("accepted[%d]: %w", i, err)
		}
	}
	return r, nil
}
