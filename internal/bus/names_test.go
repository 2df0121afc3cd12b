package bus

import (
	"context"
	"net"
	"strings"
	"testing"

	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// TestRepliesAreChecked: a reply with a string that is not what its field declares is an error with the field and the
// quoted string, of a node that is trusted too.
func TestRepliesAreChecked(t *testing.T) {
	left, right := net.Pipe()
	b, c := pair(t, left, right)
	reply := message.WindowReply{}
	reply.Reading.Snapshot.Interfaces = []netstate.InterfaceSnapshot{{Interface: "eth0"}, {Interface: "a;\x1b[2J"}}
	window := Handle(message.Window, func(context.Context, message.WindowRequest) (message.WindowReply, error) {
		return reply, nil
	})
	if err := c.Serve(t.Context(), []Handling{window}, Gate{}); err != nil {
		t.Fatal(err)
	}
	_, err := Call(t.Context(), b, "h1", message.Window, message.WindowRequest{})
	if CodeOf(err) != message.Invalid || !strings.Contains(err.Error(), `interfaces[1].interface is "a;\x1b[2J"`) {
		t.Errorf("%v", err)
	}
}
