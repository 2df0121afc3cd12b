package message

import "linerate/internal/model/topology"

// ServicesRequest starts the services of a host that are not running.
type ServicesRequest struct {
	Services []topology.Service `json:"services"`
	// Bodies are the sizes in bytes of files that HTTP servers must have. The path of each is its
	// size.
	Bodies []int64 `json:"bodies,omitempty"`
}

// ServiceStarted describes a service that runs.
type ServiceStarted struct {
	Name    string `json:"name"`
	Version string `json:"version"` // "nginx 1.22.1"
}
