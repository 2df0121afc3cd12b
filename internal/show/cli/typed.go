package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// typedFlags is a command line as it was typed, with the iperf3 options of its verb.
type typedFlags struct {
	flags  *pflag.FlagSet
	args   []string
	iperf3 []iperf3Option
}

// asTyped replaces, in problems that begin with a flag, the flag by what was typed: -l (--datagram)
// or, if another flag stands for it, -R (--direction read).
func (t typedFlags) asTyped(problems []error) []error {
	short := t.shorthands()
	list := slices.Clone(problems)
	for i, problem := range list {
		text, isFlag := strings.CutPrefix(problem.Error(), "--")
		name := text[:len(text)-len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz0123456789-"))]
		if !isFlag || name == "" {
			continue
		}
		if letter := short[name]; letter != "" {
			list[i] = fmt.Errorf("-%s (--%s)%s", letter, name, text[len(name):])
		} else if said := t.standIn(name, short); said != "" && !t.flags.Changed(name) {
			list[i] = fmt.Errorf("%s%s", said, text[len(name):])
		}
	}
	return list
}

// standIn returns the flag that was typed and stands for a flag with a value. Empty: there is none.
func (t typedFlags) standIn(name string, short map[string]string) string {
	for _, o := range t.iperf3 {
		means, _, _ := strings.Cut(strings.TrimPrefix(o.note, "`"), "`")
		if !strings.HasPrefix(means, "--"+name+" ") || o.flag == "" || !t.flags.Changed(o.flag) {
			continue
		}
		typed := "--" + o.flag
		if letter := short[o.flag]; letter != "" {
			typed = "-" + letter
		}
		return fmt.Sprintf("%s (%s)", typed, means)
	}
	return ""
}

// shorthands returns, by name, the letters of the flags that were typed by their letter.
func (t typedFlags) shorthands() map[string]string {
	typed := map[string]string{}
	for i := 0; i < len(t.args) && t.args[i] != "--"; i++ {
		name, isLong := strings.CutPrefix(t.args[i], "--")
		if f := t.flags.Lookup(name); isLong {
			if f != nil && f.NoOptDefVal == "" {
				i++ // skips its value
			}
			continue
		}
		letters, isShort := strings.CutPrefix(t.args[i], "-")
		for at := 0; isShort && at < len(letters); at++ {
			f := t.flags.ShorthandLookup(letters[at : at+1])
			if f == nil {
				break
			}
			typed[f.Name] = f.Shorthand
			if f.NoOptDefVal == "" {
				if at == len(letters)-1 {
					i++
				}
				break // the rest is its value
			}
		}
	}
	return typed
}
