// Package hub embeds the server of the bus in the conductor's process. An agent does not import it: the
// server's library is large, and a lab has many agents.
package hub

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"linerate/internal/bus"
)

// Start embeds a server in this process and connects to it.
func Start() (*bus.Bus, error) {
	known := bus.NewAccounts()
	s, err := server.NewServer(&server.Options{
		ServerName: "linerate",
		DontListen: true,
		NoLog:      true,
		NoSigs:     true,
		MaxPayload: bus.MaxMessage,
		MaxPending: 4 * bus.MaxMessage,
		// Agents answer pings also while they measure; on a loaded machine a late
		// answer must not end the connection.
		PingInterval:               30 * time.Second,
		MaxPingsOut:                10,
		AuthTimeout:                (30 * time.Second).Seconds(),
		CustomClientAuthentication: authentication{known},
	})
	if err != nil {
		return nil, fmt.Errorf("starting the bus: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, errors.New("starting the bus: the embedded server was not ready within 10 s")
	}
	return bus.New(s, known)
}

// authentication limits each agent to its own subjects. A compromised host can give false
// replies for itself; it cannot read or answer requests to other nodes, nor send requests.
type authentication struct{ known *bus.Accounts }

// Check authenticates a connection by its secret (server.Authentication).
func (a authentication) Check(c server.ClientAuthentication) bool {
	role := a.known.Check(c.GetOpts().Token)
	switch {
	case role.Conductor:
		c.RegisterUser(&server.User{Username: "conductor"})
	case role.Node != "":
		c.RegisterUser(&server.User{Username: role.Node, Permissions: &server.Permissions{
			Subscribe: &server.SubjectPermission{Allow: []string{role.Requests}},
			Publish:   &server.SubjectPermission{Allow: []string{role.Hello}},
			// One reply to each request, however late.
			Response: &server.ResponsePermission{MaxMsgs: 1, Expires: -1},
		}})
	default:
		return false
	}
	return true
}
