package tool

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/model/flow"
	"linerate/internal/model/pattern"
	"linerate/internal/model/unit"
)

// group is a group of words of a command. The command of a job contains them if the job meets every
// word of when: the name of a condition, or the key of an option that the job's flows set. The
// words can contain variables.
type group struct {
	when  string
	words []string
}

// always returns words that every job has. given returns words for jobs that meet when.
func always(words string) group      { return group{words: strings.Fields(words)} }
func given(when, words string) group { return group{when, strings.Fields(words)} }

// conditions are the conditions of groups other than options.
var conditions = sync.OnceValue(func() map[string]func(Job) bool {
	return map[string]func(Job) bool{
		"tcp":    func(j Job) bool { return flow.Of(j.Protocol).Name == flow.TCP },
		"udp":    func(j Job) bool { return j.Protocol == flow.UDP },
		"rr":     func(j Job) bool { return j.Protocol == flow.RR },
		"http":   func(j Job) bool { return j.Protocol == flow.HTTP },
		"dns":    func(j Job) bool { return j.Protocol == flow.DNS },
		"stream": func(j Job) bool { return j.Protocol == flow.DNSTCP },
		"dot":    func(j Job) bool { return j.Protocol == flow.DoT },
		"read":   func(j Job) bool { return j.Reads },
		"write":  func(j Job) bool { return !j.Reads },
		"source": func(j Job) bool { return j.Source.IsValid() },
		"ipv4":   func(j Job) bool { return !j.Destination.Addr().Is6() },
		"ipv6":   func(j Job) bool { return j.Destination.Addr().Is6() },
		"plain":  func(j Job) bool { return j.TLS == "" || j.TLS == flow.TLSOff },
		"tls":    func(j Job) bool { return j.TLS != "" && j.TLS != flow.TLSOff },
	}
})

// holds reports whether a job's command contains the words of the group.
func (g group) holds(j Job) bool {
	for key := range strings.FieldsSeq(g.when) {
		if meets, known := conditions()[key]; known && meets(j) {
			continue
		} else if !known && flow.Find(key).Wanted(&j.Spec) {
			continue
		}
		return false
	}
	return true
}

// variables are the variables in commands that are not options. The variable of an option is its
// key in capitals: $MSS. Sizes are in bytes and rates in bit/s. The field option is the option that
// the variable requires.
var variables = sync.OnceValue(func() map[string]variable {
	return map[string]variable{
		"ADDRESS": {Doc: "the flow's destination address", value: func(j Job) string {
			return j.Destination.Addr().String()
		}},
		"PORT": {Doc: "the port that the client connects to", value: func(j Job) string {
			return number(j.Destination.Port())
		}},
		"NEXT_PORT": {Doc: "the port after it", value: func(j Job) string { return number(j.Destination.Port() + 1) }},
		"AUTHORITY": {Doc: "address and port, as in a URL: 10.0.0.2:80, [fd00::2]:80", value: func(j Job) string {
			return j.Destination.String()
		}},
		"SOURCE": {Doc: "the address to connect from", option: "source", value: func(j Job) string {
			return j.Source.String()
		}},
		"SECONDS": {Doc: "how long the trial takes, in whole seconds, rounded up", value: func(j Job) string {
			return number(int(max(1, math.Ceil(j.Seconds))))
		}},
		"TIME": {Doc: "the same to the millisecond: 2.5", value: func(j Job) string {
			return fraction(j.Seconds)
		}},
		"WINDOW_KIB": {Doc: "window in KiB", option: "window", value: func(j Job) string {
			return number(max(j.Window/1024, 1))
		}},
		"RATE_CAP_KBIT": {Doc: "rate_cap in kbit/s", option: "rate_cap", value: func(j Job) string {
			return rate(j.RateCap / 1e3)
		}},
		"OUTSTANDING": {Doc: "requests that may be unanswered at a time: connections times pipeline",
			option: "pipeline", value: func(j Job) string {
				return number(max(1, j.Connections) * max(1, j.Pipeline))
			}},
		"MAIL": {Doc: "request, or the size of a mail without it", option: "request", value: func(j Job) string {
			return number(cmp.Or(j.Request, flow.DefaultBody))
		}},
		"TOS": {Doc: "dscp as the value of IP_TOS", option: "dscp", value: func(j Job) string {
			return number(j.DSCP.TrafficClass())
		}},
	}
})

type variable struct {
	Doc    string
	option string
	value  func(Job) string
}

// Variable documents a variable in commands.
type Variable struct{ Name, Doc string }

// Variables lists the variables that are not options.
func Variables() (list []Variable) {
	for name, v := range variables() {
		list = append(list, Variable{name, v.Doc})
	}
	slices.SortFunc(list, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// argsWord is replaced by the job's tool_args. If no group contains it, they become the last words.
const argsWord = "$ARGS"

// command returns the words of a command for a job.
func command(groups []group, j Job) (words []string) {
	placed := false
	for _, g := range groups {
		if !g.holds(j) {
			continue
		}
		for _, word := range g.words {
			if word == argsWord {
				words, placed = append(words, j.ToolArgs...), true
				continue
			}
			words = append(words, expand(word, j.variable))
		}
	}
	if !placed {
		words = append(words, j.ToolArgs...)
	}
	return words
}

// reference matches a variable in a word, $PORT or ${PORT}, or $$.
var reference = pattern.MustCompile(`\$(\$|\w+|\{\w+\})`)

// expand replaces the variables in a word by their values.
func expand(word string, value func(name string) string) string {
	return reference.Regexp().ReplaceAllStringFunc(word,
		func(text string) string { return value(strings.Trim(text[1:], "{}")) })
}

// variable returns the value of a variable; "$" is a dollar sign.
func (j Job) variable(name string) string {
	if v, known := variables()[name]; known {
		return v.value(j)
	}
	if o := flow.Find(strings.ToLower(name)); o != nil {
		return o.Plain(&j.Spec)
	}
	return name
}

// names lists the variables in words.
func names(words []string) (list []string) {
	for _, word := range words {
		expand(word, func(name string) string {
			list = append(list, name)
			return ""
		})
	}
	return list
}

// optionOf returns the key of the option that a variable requires, empty if none. It returns false
// if there is no such variable.
func optionOf(name string) (option string, known bool) {
	if v, is := variables()[name]; is {
		return v.option, true
	}
	o := flow.Find(strings.ToLower(name))
	return strings.ToLower(name), o != nil && name == strings.ToUpper(name)
}

// options lists the keys of the options that the groups use.
func options(groups []group) (list []string) {
	for _, g := range groups {
		for key := range strings.FieldsSeq(g.when) {
			if _, is := conditions()[key]; !is || key == "tls" {
				list = append(list, key)
			}
		}
		for _, name := range names(g.words) {
			if option, _ := optionOf(name); option != "" && flow.Find(option) != nil {
				list = append(list, option)
			}
		}
	}
	return list
}

// fraction formats seconds to the millisecond.
func fraction(s float64) string {
	return strconv.FormatFloat(math.Round(s*1e3)/1e3, 'f', -1, 64)
}

func number[T ~int | ~int64 | ~uint16](n T) string { return strconv.FormatInt(int64(n), 10) }

// rate formats bit/s without a suffix, which means 1000 to one tool and 1024 to another.
func rate(r unit.BitRate) string { return strconv.FormatFloat(float64(r), 'f', 0, 64) }

// figure finds a value in the output of the client. The groups of the expression are the value and,
// named unit, its unit. The last match is used.
type figure struct {
	expression func() *regexp.Regexp
	unit       string
	set        func(r *Report, value float64)
}

// scales maps the units of values, as programs print them, to factors.
var scales = func() map[string]float64 {
	all := map[string]float64{"us": 1, "ms": 1e3, "s": 1e6, "MiB": 1 << 20}
	for prefix, scale := range map[string]float64{"": 1, "K": 1e3, "M": 1e6, "G": 1e9} {
		all[prefix+"bits/sec"], all[prefix+"bps"] = scale, scale
	}
	for name, scale := range flow.Units {
		all[name] = scale
	}
	return all
}()

// figures parses values. The first one is required.
func figures(list ...figure) func(client, server string) (Report, error) {
	return func(client, _ string) (r Report, err error) {
		for i, f := range list {
			matches := f.expression().FindAllStringSubmatch(client, -1)
			if len(matches) == 0 {
				if i == 0 {
					return r, fmt.Errorf("no figure in %q", beginning(client))
				}
				continue
			}
			value, err := f.value(matches[len(matches)-1])
			if err != nil {
				return Report{}, err
			}
			f.set(&r, value)
		}
		return r, nil
	}
}

func (f figure) value(match []string) (float64, error) {
	text, spelled := "", f.unit
	for i, name := range f.expression().SubexpNames()[1:] {
		switch {
		case name == "unit":
			spelled = match[i+1]
		case text == "":
			text = match[i+1]
		}
	}
	scale, known := scales[spelled]
	if !known {
		return 0, fmt.Errorf("unit %.40q is not known", spelled)
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		return 0, fmt.Errorf("%.40q is not a number", text)
	}
	if value *= scale; math.IsInf(value, 0) {
		return 0, fmt.Errorf("%.40q is too large", text)
	}
	return value, nil
}

// Where values are stored in a Report.
func receiverRate(r *Report, bps float64)     { r.ReceiverBps = bps }
func transactionRate(r *Report, perS float64) { r.TransactionsPerS = perS }
func meanLatency(r *Report, us float64)       { r.LatencyUs = us }
func duration(r *Report, us float64)          { r.Seconds = us / 1e6 }
func receivedBytes(r *Report, n float64)      { r.ReceiverBytes = int64(n) }

// finds returns a figure with a fixed unit.
func finds(expression, unit string, set func(*Report, float64)) figure {
	return figure{pattern.MustCompile("(?m)" + expression).Regexp, unit, set}
}
