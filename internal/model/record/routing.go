package record

// Routing describes how hosts learned the routes that BGP should distribute.
type Routing struct {
	Protocol string `json:"protocol"` // bgp
	// Daemon is the routing daemon with its version. Empty: no daemon ran, for the reason in Note,
	// and linerate set the same routes itself.
	Daemon string `json:"daemon,omitempty"`
	Note   string `json:"note,omitempty"`
	// ConvergedS is the time from the start of the daemons until the kernel of every host had all
	// routes with all next hops.
	ConvergedS float64 `json:"converged_s,omitempty"`
	// Hosts has the routes after that, as ip-route(8) prints them.
	Hosts []HostRoutes `json:"hosts,omitempty"`
}

// HostRoutes has the routes of one host.
type HostRoutes struct {
	Host   string   `json:"host"`
	Routes []string `json:"routes"`
}
