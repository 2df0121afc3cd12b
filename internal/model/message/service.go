package message

import "linerate/internal/model/topology"

// ServicesRequest has a host's services started that do not run.
type ServicesRequest struct {
	Services []topology.Service `json:"services"`
	// Bodies are the sizes of files that servers of HTTP are to have, in bytes, each below
	// its size as the path.
	Bodies []int64 `json:"bodies,omitempty"`
}

// ServiceStarted is a service that serves.
type ServiceStarted struct {
	Name    string `json:"name"`
	Version string `json:"version"` // "nginx 1.22.1"
}
