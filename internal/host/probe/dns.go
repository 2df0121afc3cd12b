package probe

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"linerate/internal/model/netstate"
)

// reverseName returns the DNS name for the reverse lookup of an address (RFC 1035, section 3.5; RFC 3596).
func reverseName(a netip.Addr) string {
	var labels []string
	if a.Is4() {
		for _, b := range a.As4() {
			labels = append([]string{fmt.Sprint(b)}, labels...)
		}
		return strings.Join(labels, ".") + ".in-addr.arpa."
	}
	bytes := a.As16()
	for _, digit := range hex.EncodeToString(bytes[:]) {
		labels = append([]string{string(digit)}, labels...)
	}
	return strings.Join(labels, ".") + ".ip6.arpa."
}

// reverse asks one server for the name of an address, over UDP, at most twice. An answer without a name and a
// refusal count as answers.
func reverse(a netip.Addr, server string, deadline time.Time) (name string, err error) {
	at, err := netip.ParseAddrPort(server)
	if err != nil {
		var address netip.Addr
		if address, err = netip.ParseAddr(server); err != nil {
			return "", err
		}
		at = netip.AddrPortFrom(address, 53)
	}
	asked, err := dnsmessage.NewName(reverseName(a))
	if err != nil {
		return "", err
	}
	id := uint16(rand.Uint32())
	query := dnsmessage.Message{Header: dnsmessage.Header{ID: id, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: asked, Type: dnsmessage.TypePTR, Class: dnsmessage.ClassINET}}}
	packet, err := query.Pack()
	if err != nil {
		return "", err
	}
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(at))
	if err != nil {
		return "", err
	}
	defer c.Close()
	half := time.Now().Add(time.Until(deadline) / 2)
	for _, until := range []time.Time{half, deadline} {
		if _, err := c.Write(packet); err != nil {
			return "", err
		}
		if err := c.SetReadDeadline(until); err != nil {
			return "", err
		}
		name, err = answer(c, id, asked)
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			return name, err
		}
	}
	return "", errors.New(netstate.ResolverSilent)
}

// answer reads the answer to a query and skips other packets.
func answer(c *net.UDPConn, id uint16, asked dnsmessage.Name) (string, error) {
	buffer := make([]byte, 4096)
	for {
		n, err := c.Read(buffer)
		if err != nil {
			return "", err
		}
		var m dnsmessage.Parser
		header, err := m.Start(buffer[:n])
		if err != nil || header.ID != id || !header.Response {
			continue
		}
		if q, err := m.Question(); err == nil && !strings.EqualFold(q.Name.String(), asked.String()) {
			continue
		}
		if m.SkipAllQuestions() != nil {
			return "", nil
		}
		for {
			r, err := m.AnswerHeader()
			if err != nil {
				return "", nil // no such name
			}
			if r.Type != dnsmessage.TypePTR {
				if m.SkipAnswer() != nil {
					return "", nil
				}
				continue
			}
			ptr, err := m.PTRResource()
			if err != nil {
				return "", nil
			}
			return strings.TrimSuffix(ptr.PTR.String(), "."), nil
		}
	}
}
