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

// AcceptedSchema is the schema name and version of AcceptedRules.
const AcceptedSchema = "linerate.accepted/v1"

// LargestAccepted limits the size of an AcceptedRules document, in bytes.
const LargestAccepted = 8 << 20

// Limits of AcceptedRules: the number of entries, and the bytes of a host name and of a reason.
const mostAccepted, longestHost, longestReason = 1000, 255, 500

// AcceptedRules lists the findings that the user knows of and accepts (schema
// linerate.accepted/v1).
type AcceptedRules struct {
	Schema   string         `json:"schema"`
	Accepted []AcceptedRule `json:"accepted"`
}

// AcceptedRule accepts the findings of one rule until a date.
type AcceptedRule struct {
	Rule string `json:"rule"`
	// Host limits the acceptance to one host, by the name that findings have. Empty: all hosts.
	Host string `json:"host,omitempty"`
	// Until is the last day of the acceptance, in the format of time.DateOnly.
	Until   string `json:"until"`
	Because string `json:"because"`
}

// Covers reports whether f is accepted on day (time.DateOnly).
func (a AcceptedRule) Covers(f Finding, day string) bool {
	return a.Rule == f.ID && (a.Host == "" || a.Host == f.Host) && !a.Ended(day)
}

// Ended reports whether the acceptance ended before day (time.DateOnly).
func (a AcceptedRule) Ended(day string) bool { return a.Until < day }

// Check returns an error if a field of a is missing, too long, or not a printable line of text.
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

// CheckDay returns an error unless text is a date such as "2027-01-31".
func CheckDay(text string) error {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return fmt.Errorf("%q: expected a date, such as 2027-01-31", text)
	}
	return nil
}

// Put adds a, and replaces the entry with the same rule and host. It returns an error if there are
// too many entries.
func (r *AcceptedRules) Put(a AcceptedRule) error {
	r.Remove(a.Rule, a.Host)
	if len(r.Accepted) >= mostAccepted {
		return fmt.Errorf("%d findings are accepted: expected at most %d", len(r.Accepted)+1, mostAccepted)
	}
	r.Accepted = append(r.Accepted, a)
	return nil
}

// Remove removes the entry with this rule and host, and reports whether there was one. An entry for
// all hosts has the host "".
func (r *AcceptedRules) Remove(rule, host string) bool {
	n := len(r.Accepted)
	r.Accepted = slices.DeleteFunc(r.Accepted, func(a AcceptedRule) bool { return a.Rule == rule && a.Host == host })
	return len(r.Accepted) < n
}

// ParseAccepted decodes an AcceptedRules document and checks every entry.
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
