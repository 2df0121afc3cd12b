package budget

import (
	"math"

	"linerate/internal/host/application"
	"linerate/internal/host/datagram"
	"linerate/internal/host/transaction"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// Upper bounds of memory use in this process, in bytes.
const (
	flowMemory       = 32 << 10  // a flow without its buffers
	threadMemory     = 192 << 10 // a responder's thread: its buffers and stack
	connectionMemory = 1 << 10
	copyMemory       = 128 << 10 // a receiver's buffer
	processMemory    = 16 << 20  // a worker process
	processThreads   = 8
	// A reading of a flow or an interface: its structure and twice its text.
	readingMemory = 640
	// requestMemory is the decoded size of each byte of a request.
	requestMemory = 16
)

// of returns what the accepting end of a flow takes; datagrams is the number of UDP flows in the trial.
func of(o message.FlowRequest, datagrams int) (u Use) {
	n := int64(1)
	u[Flows], u[Memory] = 1, flowMemory
	switch p := flow.Of(o.Protocol); {
	case p.Application:
		n = int64(max(1, o.Connections))
		u[Memory] += int64(application.MostOpen(o.Spec)) * application.Memory(o)
		u[Descriptors] = int64(application.MostOpen(o.Spec))
	case p.Transactional():
		n = int64(max(1, o.Connections))
		u[Threads] = max(1, min(int64(o.Threads), n))
		if flow.On(o.Poll) {
			u[Polling] = u[Threads]
		}
		u[Memory] += u[Threads]*threadMemory + n*connectionMemory
		// One epoll descriptor per thread, and one to wake them.
		u[Descriptors] = int64(transaction.MostOpen(o)) + u[Threads] + 1
		if processes := int64(transaction.Processes(o)); processes > 1 {
			u[Threads] += processes * (processThreads + u[Threads])
			u[Memory] += processes * processMemory
			u[Descriptors] = 2 * processes // the worker processes hold the connections
		}
	case p.Transport == flow.UDP:
		u[Descriptors] = 1
		u[Memory] += int64(datagram.Memory(o, datagrams))
	default:
		u[Descriptors] = 1
		u[Memory] += copyMemory
	}
	u[Connections] = n
	u[Buffers] = times(n, plus(o.Window, o.Window), plus(o.SendBuffer, o.ReceiveBuffer))
	return u
}

// plus and times return at most the largest number; negative sizes are refused elsewhere.
func plus(a, b unit.Bytes) int64 {
	if sum := int64(max(0, a)) + int64(max(0, b)); sum >= 0 {
		return sum
	}
	return math.MaxInt64
}

func times(n, a, b int64) int64 {
	if product := float64(n) * (float64(a) + float64(b)); product < math.MaxInt64 {
		return int64(product)
	}
	return math.MaxInt64
}

// OfFlows returns what the flows of a trial take.
func OfFlows(list []message.FlowRequest) (sum Use) {
	datagrams := lists.Count(list, func(o message.FlowRequest) bool { return flow.Of(o.Protocol).Name == flow.UDP })
	for _, o := range list {
		sum = sum.add(of(o, datagrams))
	}
	return sum
}

// OfRequest returns what a request of this size takes until its reply has been sent.
func OfRequest(bytes int) Use { return Use{Requests: 1, Memory: int64(bytes) * requestMemory} }

// OfWindow returns what a window takes until its reply has been sent. Each of its samples holds readings of the
// flows and of counted interfaces and queueing disciplines.
func OfWindow(samples int64, flows, counted int) Use {
	const edges = 8 // readings at the window's edges are larger and taken more than once
	return Use{Samples: samples, Memory: times(int64(flows+counted), readingMemory, 0) * min(samples+edges,
		math.MaxInt32)}
}
