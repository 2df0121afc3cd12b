// Package snmp reads the counters of switch ports. It finds the ports of a study's links on each switch once,
// and then requests only their counters, before, during and after a window. The protocol is implemented by
// gosnmp (RFC 3416, RFC 3414).
//
// Every request has a deadline and every reply a size limit. A trial never waits for a switch: a figure that is
// not reported in time is absent, and the reason is recorded. Package polled interprets the figures.
package snmp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gosnmp/gosnmp"

	"linerate/internal/model/plain"
	"linerate/internal/model/syntax"
	"linerate/internal/model/topology"
)

const (
	// patience is how long a reply may take; during discovery a request is then repeated.
	patience    = 2 * time.Second
	pollTimeout = time.Second
	// Rows per GETBULK: more would need fragmented replies, which some devices do not send.
	repetitions = 16
	// mostText limits the names that a device reports, in characters.
	mostText = 64
)

// device is the SNMP agent of a switch. It is not safe for concurrent use, as the library's client is not.
type device struct {
	at     string // for messages
	secure bool   // SNMPv3, which reports wrong credentials
	client *gosnmp.GoSNMP
	latest *tap
}

// tap keeps the latest message received. A report of wrong credentials cannot be authenticated, and the library
// does not return it.
type tap struct {
	net.Conn
	reply []byte
}

func (t *tap) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.reply = append(t.reply[:0], b[:n]...)
	return n, err
}

// usmStats is the encoded prefix of the OIDs in reports (RFC 3414, section 5); the next byte selects the
// object.
var usmStats = []byte{0x2b, 6, 1, 6, 3, 15, 1, 1}

// report returns the number of the object below usmStats in the latest reply; 0 if it has none.
func (t *tap) report() byte {
	if i := bytes.Index(t.reply, usmStats); i >= 0 && i+len(usmStats) < len(t.reply) {
		return t.reply[i+len(usmStats)]
	}
	return 0
}

// open returns a client and sends nothing. conn connects to an agent of a lab; nil: UDP to the address in s.
func open(ctx context.Context, s *topology.SNMP, c Credentials, conn net.Conn) (*device, error) {
	host, port, _ := s.Endpoint()
	d := &device{at: net.JoinHostPort(host, fmt.Sprint(port)), secure: c.version == gosnmp.Version3}
	if conn != nil {
		host, d.at = "127.0.0.1", "snmpd"
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d.client = &gosnmp.GoSNMP{Target: host, Port: max(port, 1), Transport: "udp", Context: ctx, Timeout: patience,
		MaxOids: gosnmp.MaxOids, MaxRepetitions: repetitions}
	c.enter(d.client)
	if err := d.client.Connect(); err != nil { // resolves the name and opens a socket
		return nil, d.failed(err)
	}
	if conn != nil {
		_ = d.client.Conn.Close()
		d.client.Conn = conn
	}
	d.latest = &tap{Conn: d.client.Conn}
	d.client.Conn = d.latest
	return d, nil
}

// interrupt ends the wait for a reply; call it from another goroutine.
func (d *device) interrupt() { _ = d.client.Conn.SetDeadline(time.Now()) }

func (d *device) close() { _ = d.client.Close() }

// get requests objects and returns them in order, with again repetitions after a timeout. Objects that the
// device lacks are marked in the reply.
func (d *device) get(ctx context.Context, within time.Duration, again int, oids []string) ([]gosnmp.SnmpPDU, error) {
	d.client.Context, d.client.Timeout, d.client.Retries = ctx, within, again
	reply, err := d.client.Get(oids)
	if err != nil {
		return nil, d.failed(err)
	}
	if err := status(reply); err != nil {
		return nil, err
	}
	same := len(reply.Variables) == len(oids)
	for i := 0; same && i < len(oids); i++ {
		same = strings.TrimPrefix(reply.Variables[i].Name, ".") == oids[i]
	}
	if !same {
		return nil, errors.New("its reply has other objects than were requested")
	}
	return reply.Variables, nil
}

// walk calls row for up to most rows of a column, with the part of their OID after the column's. more reports
// whether there are others.
func (d *device) walk(ctx context.Context, column string, most int, row func(index []uint32, value gosnmp.SnmpPDU)) (
	more bool, err error) {
	d.client.Timeout, d.client.Retries, d.client.Context = patience, 1, ctx
	last, at := parseOID(column), column
	base := last
	for n := 0; ; {
		reply, err := d.client.GetBulk([]string{at}, 0, repetitions)
		if err != nil {
			return false, d.failed(err)
		}
		if err := status(reply); err != nil {
			return false, err
		}
		if len(reply.Variables) == 0 || len(reply.Variables) > repetitions {
			return false, fmt.Errorf("its reply has %d rows: expected 1 to %d", len(reply.Variables), repetitions)
		}
		for _, v := range reply.Variables {
			oid := parseOID(v.Name)
			if len(oid) <= len(base) || !slices.Equal(oid[:len(base)], base) || v.Type == gosnmp.EndOfMibView ||
				absent(v) {
				return false, nil
			}
			if slices.Compare(oid, last) <= 0 { // the device repeats itself
				return false, errors.New("its rows are not in order")
			}
			if n++; n > most {
				return true, nil
			}
			last, at = oid, strings.TrimPrefix(v.Name, ".")
			row(oid[len(base):], v)
		}
	}
}

// status returns the error in a reply.
func status(reply *gosnmp.SnmpPacket) error {
	if reply.PDUType != gosnmp.GetResponse && reply.PDUType != gosnmp.Report {
		return errors.New("its reply is no response")
	}
	switch reply.Error {
	case gosnmp.NoError:
		return nil
	case gosnmp.TooBig:
		return errTooBig
	case gosnmp.AuthorizationError, gosnmp.NoAccess:
		return errors.New("the user may read nothing, or not at this security level")
	}
	return fmt.Errorf("its reply has the error %s", reply.Error)
}

var errTooBig = errors.New("its reply would be too large (tooBig)")

// errSilent means that no answer came in time.
var errSilent = errors.New("no answer")

// failed describes the error of a request in our own words: the library's may contain the message with its
// secrets, or text from the device.
func (d *device) failed(err error) error {
	if d.secure && d.latest != nil {
		switch d.latest.report() {
		case 1:
			return errors.New(
				"the user has another security level there: with or without auth_protocol and priv_protocol")
		case 3:
			return errors.New("it does not know the user")
		case 5:
			return errors.New("the user's auth_password or auth_protocol is wrong")
		case 6:
			return errors.New("the user's priv_password or priv_protocol is wrong")
		}
	}
	var timeout net.Error
	var dns *net.DNSError
	var local *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s", d.at)
	case errors.As(err, &dns):
		return fmt.Errorf("the name in %s has no address", d.at)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return fmt.Errorf("%s cannot be reached", d.at)
	case errors.Is(err, gosnmp.ErrMaxRetriesExceeded), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, context.Canceled),
		errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%w from %s within %v", errSilent, d.at, d.client.Timeout)
	case errors.As(err, &local) && local.Op == "write":
		return fmt.Errorf("this host does not send to %s: %w", d.at, local.Err)
	}
	return errors.New("its reply is no SNMP message")
}

// absent reports whether the device lacks an object.
func absent(v gosnmp.SnmpPDU) bool {
	return v.Type == gosnmp.NoSuchObject || v.Type == gosnmp.NoSuchInstance || v.Type == gosnmp.Null
}

// number returns the value of a counter or integer; 0 for other types.
func number(v gosnmp.SnmpPDU) uint64 {
	switch n := v.Value.(type) {
	case uint64:
		return n
	case uint:
		return uint64(n)
	case uint32:
		return uint64(n)
	case int:
		return uint64(max(0, n))
	}
	return 0
}

// octets returns the bytes of a string.
func octets(v gosnmp.SnmpPDU) []byte {
	b, _ := v.Value.([]byte)
	return b[:min(len(b), 255)]
}

// text returns a string for display; empty if it is none.
func text(v gosnmp.SnmpPDU) string {
	shown := plain.Short(strings.ToValidUTF8(string(octets(v)), "?"), mostText)
	if !syntax.Words.Fits(shown) {
		return ""
	}
	return shown
}

// parseOID parses ".1.3.6"; nil if it is no OID.
func parseOID(s string) (list []uint32) {
	for part := range strings.SplitSeq(strings.TrimPrefix(s, "."), ".") {
		n := uint64(0)
		for _, r := range part {
			if r < '0' || r > '9' || n > 1<<32 {
				return nil
			}
			n = n*10 + uint64(r-'0')
		}
		list = append(list, uint32(n))
	}
	return list
}
