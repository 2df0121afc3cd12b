package snmp

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/topology"
)

// fake is an SNMP agent on the loopback: a switch that counts octets at a rate.
type fake struct {
	mu      sync.Mutex
	objects map[string]func() (gosnmp.Asn1BER, any)
	// delay is before each answer, and garbled replaces it; nil: it is an answer.
	delay   atomic.Int64
	garbled func([]byte) []byte
	// turned changes the reply to a request, and before are messages that are sent before each. Nil: none.
	turned func(reply *gosnmp.SnmpPacket, bulk bool)
	before func(request []byte) [][]byte
	silent atomic.Bool
	asked  atomic.Int64
	conn   *net.UDPConn
}

const community = "swordfish"

func newFake(t *testing.T) *fake {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{objects: map[string]func() (gosnmp.Asn1BER, any){}, conn: conn}
	t.Cleanup(func() { conn.Close() })
	began := time.Now()
	f.set(sysUpTime, func() (gosnmp.Asn1BER, any) {
		return gosnmp.TimeTicks, uint32(time.Since(began).Milliseconds() / 10)
	})
	f.value(sysName, gosnmp.OctetString, "sg300\x1b[2J")
	f.value(sysDescr, gosnmp.OctetString, "a switch")
	return f
}

func (f *fake) set(oid string, value func() (gosnmp.Asn1BER, any)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[oid] = value
}

func (f *fake) value(oid string, kind gosnmp.Asn1BER, value any) {
	f.set(oid, func() (gosnmp.Asn1BER, any) { return kind, value })
}

// port adds an interface whose counter of octets received grows at bps, beginning at start,
// and is refreshed so often (0: at each request).
func (f *fake) port(index int, name string, bits int, start uint64, bps float64, refresh time.Duration) {
	at := fmt.Sprintf(".%d", index)
	began := sched.Now()
	f.value(ifName+at, gosnmp.OctetString, name)
	f.value(ifHighSpeed+at, gosnmp.Gauge32, uint(1000))
	for i, c := range counters {
		octets := i == 0
		f.set(c.oid(bits)+at, func() (gosnmp.Asn1BER, any) {
			passed := sched.Now() - began
			if refresh > 0 {
				passed = passed / int64(refresh) * int64(refresh)
			}
			n := uint64(0)
			if octets {
				n = start + uint64(float64(passed)*bps/8e9)
			}
			if c.wide != "" && bits == 64 {
				return gosnmp.Counter64, n
			}
			return gosnmp.Counter32, uint32(n)
		})
	}
}

// forwards adds a MAC address to its forwarding table.
func (f *fake) forwards(column string, index []int, port, at int) {
	oid := column
	for _, n := range index {
		oid += fmt.Sprintf(".%d", n)
	}
	f.value(oid, gosnmp.Integer, port)
	f.value(fmt.Sprintf("%s.%d", dot1dBasePortIfIndex, port), gosnmp.Integer, at)
}

// serve answers until the test ends.
func (f *fake) serve() {
	go func() {
		buffer := make([]byte, 65535)
		for {
			n, from, err := f.conn.ReadFromUDP(buffer)
			if err != nil {
				return
			}
			f.asked.Add(1)
			if f.silent.Load() {
				continue
			}
			if f.before != nil {
				for _, message := range f.before(slices.Clone(buffer[:n])) {
					_, _ = f.conn.WriteToUDP(message, from)
				}
			}
			answer := f.answer(slices.Clone(buffer[:n]))
			if answer != nil {
				time.AfterFunc(time.Duration(f.delay.Load()), func() { _, _ = f.conn.WriteToUDP(answer, from) })
			}
		}
	}()
}

// oids are those of all objects in their order.
func (f *fake) oids() (list [][]uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for oid := range f.objects {
		list = append(list, parseOID(oid))
	}
	slices.SortFunc(list, slices.Compare)
	return list
}

func (f *fake) answer(request []byte) []byte {
	packet, err := (&gosnmp.GoSNMP{Version: gosnmp.Version2c}).SnmpDecodePacket(request)
	if err != nil || packet.Community != community {
		return nil
	}
	var list []gosnmp.SnmpPDU
	oids := f.oids()
	add := func(oid string) {
		v := gosnmp.SnmpPDU{Name: oid, Type: gosnmp.NoSuchInstance}
		f.mu.Lock()
		value, is := f.objects[oid]
		f.mu.Unlock()
		if is {
			v.Type, v.Value = value()
		}
		list = append(list, v)
	}
	for _, v := range packet.Variables {
		oid := strings.TrimPrefix(v.Name, ".")
		if packet.PDUType == gosnmp.GetRequest {
			add(oid)
			continue
		}
		at, _ := slices.BinarySearchFunc(oids, parseOID(oid), func(a, b []uint32) int {
			if slices.Compare(a, b) <= 0 {
				return -1
			}
			return 1
		})
		for k := range repetitions {
			if at+k >= len(oids) {
				list = append(list, gosnmp.SnmpPDU{Name: oid, Type: gosnmp.EndOfMibView})
				break
			}
			add(strings.Trim(strings.ReplaceAll(fmt.Sprint(oids[at+k]), " ", "."), "[]"))
		}
	}
	bulk := packet.PDUType == gosnmp.GetBulkRequest
	packet.PDUType, packet.Variables, packet.Error = gosnmp.GetResponse, list, gosnmp.NoError
	if f.turned != nil {
		f.turned(packet, bulk)
	}
	answer, err := packet.MarshalMsg()
	if err == nil && f.garbled != nil {
		answer = f.garbled(answer)
	}
	return answer
}

func (f *fake) snmp() *topology.SNMP { return &topology.SNMP{Address: f.conn.LocalAddr().String()} }

// open opens it with the right community.
func (f *fake) open(t *testing.T) *Switch {
	t.Helper()
	return opened(t, f.snmp(), Community(community))
}

func opened(t *testing.T, s *topology.SNMP, c Credentials) *Switch {
	t.Helper()
	one, err := Open(context.Background(), "sg300", s, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(one.Close)
	return one
}

// secret writes a file of credentials.
func secret(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snmp")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}
