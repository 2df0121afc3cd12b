package starter

import (
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/pattern"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// Argument is a value that a template requires: a flag of the command line.
type Argument struct {
	Name string
	Type string // placeholder in the usage
	// Default is the value without the flag.
	Default string
	// Doc describes the argument, and Bounds the accepted values: "1 to 64".
	Doc, Bounds string
	// Parse parses and checks a text. Its error contains the text and the bounds.
	Parse func(text string) (any, error)
}

// Usage returns the argument's line in the help.
func (a Argument) Usage() string { return a.Doc + ", " + a.Bounds }

// bounded returns an argument of an ordered type with two bounds.
func bounded[T cmp.Ordered](name, what, byDefault string, low, high T, parse func(string) (T, error),
	doc string) Argument {
	bounds := fmt.Sprintf("%v to %v", low, high)
	return Argument{name, what, byDefault, doc, bounds, func(text string) (any, error) {
		v, err := parse(text)
		if err != nil || v < low || v > high {
			return nil, fmt.Errorf("%s: expected %s", text, bounds)
		}
		return v, nil
	}}
}

func count(name, byDefault string, low, high int, doc string) Argument {
	return bounded(name, "int", byDefault, low, high, strconv.Atoi, doc)
}

func rate(name, byDefault string, low, high unit.BitRate, doc string) Argument {
	return bounded(name, "rate", byDefault, low, high, unit.ParseBitRate, doc)
}

func delay(name, byDefault string, low, high time.Duration, doc string) Argument {
	return spelled(bounded(name, "duration", byDefault, unit.Duration(low), unit.Duration(high), unit.ParseLatency,
		doc), unit.ParseLatency)
}

func share(name, byDefault string, low, high unit.Ratio, doc string) Argument {
	return spelled(bounded(name, "ratio", byDefault, low, high, unit.ParseRatio, doc), unit.ParseRatio)
}

// spelled returns an argument whose parser has its own errors about the syntax, which are reported
// before those about bounds.
func spelled[T any](a Argument, parse func(string) (T, error)) Argument {
	within := a.Parse
	a.Parse = func(text string) (any, error) {
		if _, err := parse(text); err != nil {
			return nil, err
		}
		return within(text)
	}
	return a
}

// matching returns an argument of words that match an expression and need no quotes in YAML.
func matching(name, what, byDefault, expression, bounds, doc string) Argument {
	fits := pattern.MustCompile("^(" + expression + ")$")
	return Argument{name, what, byDefault, doc, bounds, func(text string) (any, error) {
		if !fits.MatchString(text) {
			return nil, fmt.Errorf("%q: expected %s", text, bounds)
		}
		return text, nil
	}}
}

func address(name, byDefault, doc string) Argument {
	const bounds = "with its prefix length, such as 192.168.1.15/24"
	return Argument{name, "address", byDefault, doc, bounds, func(text string) (any, error) {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q: expected an address %s", text, bounds)
		}
		return p, nil
	}}
}

// remote returns an argument that names a host as --host does, or this one. Its value is the command
// that reaches the host, in YAML.
func remote(name, byDefault, doc string) Argument {
	const bounds = "as for ssh, such as root@nas or root@nas:2299, or here"
	return Argument{name, "host", byDefault, doc, bounds, func(text string) (any, error) {
		if text == "here" {
			return "[env] # this machine", nil
		}
		words, err := topology.SSH(text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w, or here", text, err)
		}
		for i, word := range words {
			if !plainWord.MatchString(word) {
				words[i] = strconv.Quote(word)
			}
		}
		return "[" + strings.Join(words, ", ") + "]", nil
	}}
}

// plainWord matches words that are strings in YAML without quotes.
var plainWord = pattern.MustCompile(`^-?[A-Za-z_][A-Za-z0-9_.@-]*$`)
