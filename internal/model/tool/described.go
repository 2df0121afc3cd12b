package tool

import (
	"fmt"
	"regexp"
	"slices"

	"linerate/internal/model/flow"
)

// describe returns the tool for a description in a study.
func describe(d flow.Tool) *Tool {
	t := &Tool{
		Name: d.String(), Client: d.Client[0], Port: uint16(d.Port), All: true, Forks: true,
		Protocols: flow.Names(func(p flow.Protocol) bool { return p.Name != flow.CRR && p.Name != flow.UDPRR }),
		client:    []group{{words: d.Client[1:]}}, Described: true,
	}
	if len(d.Server) > 0 {
		t.Server, t.server = d.Server[0], []group{{words: d.Server[1:]}}
	}
	withOptions(t)
	expression, err := d.Figures()
	if err != nil || expression == nil {
		return t
	}
	set := func(r *Report, value float64) {
		switch {
		case d.Unit == flow.Requests:
			r.TransactionsPerS = value
		case d.CountedBy == "receiver":
			r.ReceiverBps = value
		case d.CountedBy == "sender":
			r.SenderBps = value
		default:
			r.clientBps = value
		}
	}
	t.parse = figures(figure{func() *regexp.Regexp { return expression }, d.Unit, set})
	return t
}

// Problem returns what is wrong with a described tool for a job, beyond the checks of package flow.
// Empty: nothing.
func (t *Tool) Problem(j Job, direction string) string {
	if !t.Described {
		return ""
	}
	if direction == flow.Both {
		return "direction both: a description is of one direction"
	}
	hasPort := false
	for command, groups := range map[string][]group{"client": t.client, "server": t.server} {
		for _, g := range groups {
			for _, name := range names(g.words) {
				option, known := optionOf(name)
				switch {
				case name == "$": // a dollar sign
				case !known:
					return fmt.Sprintf("%s: there is no variable $%s", command, name)
				case option == "source" && !j.Source.IsValid():
					return fmt.Sprintf("%s: $SOURCE needs source", command)
				case option != "" && option != "source" && !hasOption(option, j):
					return fmt.Sprintf("%s: $%s needs %s", command, name, option)
				}
				hasPort = hasPort || command == "server" && (name == "PORT" || name == "NEXT_PORT")
			}
		}
	}
	switch application := flow.Of(j.Protocol).Application; {
	case t.Server == "" && t.Port == 0 && !application:
		return fmt.Sprintf("nothing listens: give server, or port if something does; protocol %s has no server here",
			flow.Of(j.Protocol).Name)
	case t.Server != "" && t.Port == 0 && !hasPort:
		return "server: it has no $PORT; give port if it listens on a fixed one"
	}
	return ""
}

// hasOption reports whether a job's flow has an option, explicitly or by default.
func hasOption(key string, j Job) bool {
	o := flow.Find(key)
	return o.Wanted(&j.Spec) || o.Default != 0 && o.For(j.Protocol)
}

// IsTimed reports whether the client's words contain the duration.
func (t *Tool) IsTimed() bool {
	return slices.ContainsFunc(t.client, func(g group) bool {
		n := names(g.words)
		return slices.Contains(n, "SECONDS") || slices.Contains(n, "TIME")
	})
}
