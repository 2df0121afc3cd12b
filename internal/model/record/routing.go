package record

// Routing is how hosts came by the routes that BGP is to bring.
type Routing struct {
	Protocol string `json:"protocol"` // bgp
	// Daemon is what speaks it, with its version; empty: nothing does, for the
	// reason in Note, and linerate has made the same routes itself.
	Daemon string `json:"daemon,omitempty"`
	Note   string `json:"note,omitempty"`
	// ConvergedS is how long it took from the daemons' start until every host's
	// kernel had all routes with all their next hops.
	ConvergedS float64 `json:"converged_s,omitempty"`
	// Hosts are the routes then, as ip-route(8) spells them.
	Hosts []HostRoutes `json:"hosts,omitempty"`
}

// HostRoutes are a host's.
type HostRoutes struct {
	Host   string   `json:"host"`
	Routes []string `json:"routes"`
}
