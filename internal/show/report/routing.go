package report

import (
	"fmt"
	"strings"
)

// routing says in a sentence how hosts came by their learned routes; empty: they
// have none.
func (v *view) routing() string {
	r := v.run.Environment.Routing
	switch {
	case r == nil:
		return ""
	case r.Daemon == "":
		return "made by linerate as " + strings.ToUpper(r.Protocol) + " would bring them: " + r.Note
	}
	text := fmt.Sprintf("%s by %s: all there after %s", strings.ToUpper(r.Protocol), r.Daemon, seconds(r.ConvergedS))
	longest, times := 0.0, 0
	for _, t := range v.run.Trials {
		if t.ConvergedS > 0 {
			longest, times = max(longest, t.ConvergedS), times+1
		}
	}
	if times > 0 {
		text += fmt.Sprintf(", and again within %s before %s", seconds(longest), count(times, "trial"))
	}
	return text
}

// oneRoute is a learned route with the most ways, as the kernel's table has it.
func (v *view) oneRoute() (host, route string) {
	most := -1
	for _, h := range v.run.Environment.Routing.Hosts {
		for _, text := range h.Routes {
			if ways := strings.Count(text, " nexthop "); ways > most {
				host, route, most = h.Host, text, ways
			}
		}
	}
	return host, route
}

// routes writes it, with a route to look at.
func (t *terminal) routes(v *view) {
	text := v.routing()
	if text == "" {
		return
	}
	t.blank()
	t.labelled("Routes", text)
	host, route := v.oneRoute()
	if route == "" {
		return
	}
	// As ip-route(8) breaks it.
	parts := strings.Split(route, " nexthop ")
	t.labelled("", host+": "+parts[0])
	for _, hop := range parts[1:] {
		t.paragraph("", strings.Repeat(" ", 14), strings.Repeat(" ", 16), "nexthop "+hop)
	}
}
