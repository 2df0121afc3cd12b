package wording

import (
	"cmp"
	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

var (
	_ = say(cause.GatewayUnresolved, words[cause.Gateway]{read: "RFC 1122, section 3.3.1; ip-neighbour(8)",
		found: "A gateway of a route is FAILED or INCOMPLETE in the neighbour table.",
		summary: func(_ record.Finding, a cause.Gateway) string {
			return fmt.Sprintf("the gateway %s does not answer on %s", a.Gateway, a.Interface)
		},
		fixed: func(_ record.Finding, a cause.Gateway) []string {
			return []string{fmt.Sprintf(
				"check that the gateway has this address and is on this link (arping %s), or correct the route", a.Gateway)}
		}})
	_ = say(cause.GatewayOffLink, words[cause.Gateway]{read: "RFC 1122, section 3.3.1; ip-route(8)",
		found: "A gateway of a route is in no subnet of the interface, and no other route leads to it there.",
		summary: func(_ record.Finding, a cause.Gateway) string {
			return fmt.Sprintf("the gateway %s is in no subnet of %s", a.Gateway, a.Interface)
		},
		fix: []string{"correct the gateway's address or the prefix length of the interface's"}})

	_ = spell(func(_ string, r fact.Route) string { return "route: " + r.Route })
	_ = spell(func(_ string, a fact.Addresses) string {
		return fmt.Sprintf("%s: %s", a.Interface, cmp.Or(some(texts(a.Addresses)), "no address"))
	})
)
