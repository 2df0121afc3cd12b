//go:build portable || !linux

package application

import (
	"sync/atomic"

	"linerate/internal/model/message"
)

// loop stands for the event loops that only Linux has: here all transactions are those of sessions.
type loop struct {
	arrivals    *arrivals
	recorder    *recorder
	established atomic.Int64
}

func (f *appFlow) newLoops() ([]*loop, error) { return nil, nil }

func (*loop) run()                       {}
func (*loop) end()                       {}
func (*loop) busy() int64                { return 0 }
func (*loop) spun() int64                { return 0 }
func (*loop) stop()                      {}
func (*loop) close()                     {}
func (*loop) info(*message.FlowEnd) bool { return false }
func (*loop) waiting() (n, since int64)  { return 0, 0 }
