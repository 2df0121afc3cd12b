package evidence

import (
	"fmt"
	"strings"

	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// routing says in one sentence how hosts learned their routes. Empty: they have no learned routes.
func routing(v *view.View) string {
	r := v.Run.Environment.Routing
	switch {
	case r == nil:
		return ""
	case r.Daemon == "":
		return "set by linerate as " + strings.ToUpper(r.Protocol) + " would: " + r.Note
	}
	text := fmt.Sprintf("%s by %s: converged after %s", strings.ToUpper(r.Protocol), r.Daemon,
		number.Seconds(r.ConvergedS))
	longest, times := 0.0, 0
	for _, t := range v.Run.Trials {
		if t.ConvergedS > 0 {
			longest, times = max(longest, t.ConvergedS), times+1
		}
	}
	if times > 0 {
		text += fmt.Sprintf(", and again within %s before each of %s", number.Seconds(longest),
			words.Count(times, "trial"))
	}
	return text
}

// oneRoute returns a learned route with the most next hops, as in the kernel's table.
func oneRoute(v *view.View) (host, route string) {
	most := -1
	for _, h := range v.Run.Environment.Routing.Hosts {
		for _, text := range h.Routes {
			if n := strings.Count(text, " nexthop "); n > most {
				host, route, most = h.Host, text, n
			}
		}
	}
	return host, route
}

// RouteStatements returns the sentence of routing, with an example of a route.
func RouteStatements(v *view.View) []document.Block {
	text := routing(v)
	if text == "" {
		return nil
	}
	list := []document.Block{document.Statement{Label: "Routes", Text: text}}
	host, route := oneRoute(v)
	if route == "" {
		return list
	}
	// With line breaks like those of ip-route(8).
	parts := strings.Split(route, " nexthop ")
	s := document.Statement{Text: host + ": " + parts[0]}
	for _, hop := range parts[1:] {
		s.Items = append(s.Items, document.Item{Mark: " ", Text: "nexthop " + hop})
	}
	return append(list, s)
}

// Routes returns blocks for the page: how the routes were learned, and all of them.
func Routes(v *view.View) []document.Block {
	text := routing(v)
	if text == "" {
		return nil
	}
	list := []document.Block{document.Statement{Text: "Routes: " + text + "."}}
	if hosts := v.Run.Environment.Routing.Hosts; len(hosts) > 0 {
		var lines []string
		for _, h := range hosts {
			lines = append(lines, h.Host)
			for _, route := range h.Routes {
				lines = append(lines, "  "+route)
			}
		}
		list = append(list, document.Fold{ID: "routes", Summary: "The routes that were learned",
			Blocks: []document.Block{document.Listing{Lines: lines}}})
	}
	return list
}
