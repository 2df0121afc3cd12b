package iperf3

import "fmt"

// Code is an iperf3 error number. A client prints its own text for it.
type Code int32

// The codes that a server sends. An iperf3 client prints a code that it does not know as a number.
const (
	CodeDuration       Code = 5
	CodeStreams        Code = 6
	CodeBlockSize      Code = 7
	CodeWindow         Code = 8
	CodeMSS            Code = 10
	CodeOmit           Code = 12
	codeUnimplemented  Code = 13
	CodeBurst          Code = 15
	CodeUDPBlockSize   Code = 20
	CodeTOS            Code = 21
	CodeReverseBidir   Code = 25
	CodeTotalRate      Code = 27
	CodeMaxDuration    Code = 37
	CodeMessage        Code = 110
	codeReceiveCookie  Code = 106
	codeParameters     Code = 114
	codeReceiveResults Code = 117
	codeServerTerm     Code = 120
	CodeAccessDenied   Code = 121
	codeSetMSS         Code = 123
	CodeSetBuffer      Code = 124
	CodeSetTOS         Code = 125
	CodeProtocol       Code = 131
	CodeCongestion     Code = 134
	CodeAuthentication Code = 142
	CodeExpired        Code = 160
	codeCreateStream   Code = 200
	CodeStreamAccept   Code = 204
	CodeStreamWrite    Code = 205
	CodeStreamRead     Code = 206
)

var codeWords = map[Code]string{
	CodeDuration: "the test is too long", CodeStreams: "too many parallel streams",
	CodeBlockSize: "the block size is too large",
	CodeWindow:    "the socket buffer is too large", CodeMSS: "the segment size is too large",
	CodeOmit:          "the omitted time is out of range",
	codeUnimplemented: "not implemented", CodeBurst: "the burst is too large",
	CodeUDPBlockSize: "the datagram size is out of range",
	CodeTOS:          "the type of service is out of range", CodeReverseBidir: "both reverse and bidirectional",
	CodeTotalRate:   "the total rate is more than the server allows",
	CodeMaxDuration: "the test is longer than the server allows",
	CodeMessage:     "an unknown message", codeReceiveCookie: "no cookie arrived",
	codeParameters:     "the parameters could not be read",
	codeReceiveResults: "the results could not be read", codeServerTerm: "the server was stopped",
	CodeAccessDenied: "the server is busy or does not serve this client",
	codeSetMSS:       "the segment size could not be set",
	CodeSetBuffer:    "the socket buffer could not be set", CodeSetTOS: "the type of service could not be set",
	CodeProtocol: "the protocol is not available", CodeCongestion: "the congestion control is not available",
	CodeAuthentication: "authentication failed", CodeExpired: "the test lasted longer than was agreed",
	codeCreateStream: "a stream could not be created", CodeStreamAccept: "a stream was not opened",
	CodeStreamWrite: "a stream could not be written to", CodeStreamRead: "a stream could not be read from",
}

func (c Code) String() string {
	if words, ok := codeWords[c]; ok {
		return words
	}
	return fmt.Sprintf("iperf3's error %d", int32(c))
}
