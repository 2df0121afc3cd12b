package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/control/lab"
	"linerate/internal/control/reach"
	"linerate/internal/host/agent"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pasted"
	"linerate/internal/model/source"
)

// self starts this host's agent in this process. It runs until its stream ends.
func self(node string, access message.Access) net.Conn {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		_ = agent.Serve(context.Background(), far, agent.Options{Node: node, Access: access}) // ends with the stream
	}()
	return near
}

// defineInstall adds the flag for hosts that do not have linerate.
func defineInstall(flags *pflag.FlagSet, to *reach.Install) {
	valueVar(flags, to, oneOf(reach.Temporary, reach.Keep, reach.Never), "install", "how", string(reach.Temporary),
		"a host without this version of linerate gets its agent over the same connection: temporary: nothing "+
			"is left there; keep: it stays in the user's cache; never: it is not sent")
}

// hostsOfLab returns the hosts and switches of a lab that is up.
func hostsOfLab(name string) (list []reach.Host, err error) {
	hosts, _, err := lab.Hosts(name)
	for _, host := range hosts {
		list = append(list, reach.Host{Name: host, Called: host, Lab: name})
	}
	return list, err
}

// plainOf reads each host with its own tools, of all at the same time, as snapshotsOf does with
// linerate's agent. It says which tools are missing.
func plainOf(ctx context.Context, s streams, hosts []reach.Host) (list []netstate.HostSnapshot, text pasted.Text,
	err error) {
	read, err := reach.ReadPlain(ctx, hosts)
	for _, one := range read {
		list = append(list, one.Snapshot)
		text.Lost += one.Lost
		text.NotUnderstood = append(text.NotUnderstood, one.NotUnderstood...)
		if len(one.Missing) > 0 {
			say(s.hints(), "linerate: %s has no %s: rules that need them are not evaluated\n",
				one.Snapshot.Reading.Host, source.Or(one.Missing))
		}
	}
	return list, text, err
}

// reachTimeout bounds the time for a snapshot, in addition to the time between its readings.
const reachTimeout = time.Minute

// snapshotsOf takes a snapshot of each host, of all at the same time. If some fail, it returns the
// snapshots of the others and an error that says why.
func snapshotsOf(ctx context.Context, hosts []reach.Host, q message.SnapshotRequest, probing probeFlags) (
	[]netstate.HostSnapshot, error) {
	if len(hosts) == 0 {
		return nil, nil
	}
	h, lost := reach.Open(ctx, hosts, reach.Read, reach.Options{Self: self})
	if h == nil {
		return nil, lost
	}
	defer h.Close()
	q.Peers, q.Port = probing.peers, probing.port
	within := time.Duration(q.OverNs) + reachTimeout + probing.timeout()
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer within %s: %w", within,
		context.DeadlineExceeded))
	defer cancel()
	list, err := reach.Snapshots(ctx, h, q)
	return list, errors.Join(lost, err)
}
