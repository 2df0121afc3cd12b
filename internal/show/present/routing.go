package present

import (
	"fmt"
	"strings"
)

// routing says in a sentence how hosts learned their routes; empty: they have none.
func routing(v *view) string {
	r := v.run.Environment.Routing
	switch {
	case r == nil:
		return ""
	case r.Daemon == "":
		return "set by linerate as " + strings.ToUpper(r.Protocol) + " would: " + r.Note
	}
	text := fmt.Sprintf("%s by %s: converged after %s", strings.ToUpper(r.Protocol), r.Daemon, Seconds(r.ConvergedS))
	longest, times := 0.0, 0
	for _, t := range v.run.Trials {
		if t.ConvergedS > 0 {
			longest, times = max(longest, t.ConvergedS), times+1
		}
	}
	if times > 0 {
		text += fmt.Sprintf(", and again within %s before each of %s", Seconds(longest), Count(times, "trial"))
	}
	return text
}

// oneRoute is a learned route with the most next hops, as the kernel's table has it.
func oneRoute(v *view) (host, route string) {
	most := -1
	for _, h := range v.run.Environment.Routing.Hosts {
		for _, text := range h.Routes {
			if n := strings.Count(text, " nexthop "); n > most {
				host, route, most = h.Host, text, n
			}
		}
	}
	return host, route
}

// routeStatements say it, with a route to look at.
func routeStatements(v *view) []Block {
	text := routing(v)
	if text == "" {
		return nil
	}
	list := []Block{Statement{Label: "Routes", Text: text}}
	host, route := oneRoute(v)
	if route == "" {
		return list
	}
	// As ip-route(8) breaks it.
	parts := strings.Split(route, " nexthop ")
	s := Statement{Text: host + ": " + parts[0]}
	for _, hop := range parts[1:] {
		s.Items = append(s.Items, Item{Mark: " ", Text: "nexthop " + hop})
	}
	return append(list, s)
}

// routeBlocks are for the page: how the routes came, and all of them.
func routeBlocks(v *view) []Block {
	text := routing(v)
	if text == "" {
		return nil
	}
	list := []Block{Statement{Text: "Routes: " + text + "."}}
	if hosts := v.run.Environment.Routing.Hosts; len(hosts) > 0 {
		var lines []string
		for _, h := range hosts {
			lines = append(lines, h.Host)
			for _, route := range h.Routes {
				lines = append(lines, "  "+route)
			}
		}
		list = append(list, Fold{ID: "routes", Summary: "The routes that were learned", Blocks: []Block{Listing{Lines: lines}}})
	}
	return list
}
