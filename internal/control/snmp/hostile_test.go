package snmp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/model/syntax"
)

// pdu is a row of a reply.
func pdu(oid string, kind gosnmp.Asn1BER, value any) gosnmp.SnmpPDU {
	return gosnmp.SnmpPDU{Name: oid, Type: kind, Value: value}
}

// TestHostileAgents: whatever an agent of SNMP replies, discovery ends in its time with a sentence or without the rows,
// a window ends with the trial, and a reading has only what its fields declare.
func TestHostileAgents(t *testing.T) {
	kerneltest.Slow(t)
	// rows replaces the rows of each reply of a walk.
	rows := func(of func(column string, n int) []gosnmp.SnmpPDU) func(*fake) {
		return func(f *fake) {
			n := 0
			f.turned = func(reply *gosnmp.SnmpPacket, bulk bool) {
				if bulk {
					n++
					column := strings.TrimPrefix(reply.Variables[0].Name, ".")
					reply.Variables = of(column[:strings.LastIndex(column, ".")], n)
				}
			}
		}
	}
	each := func(kind gosnmp.Asn1BER, value any) func(*fake) {
		return func(f *fake) {
			f.turned = func(reply *gosnmp.SnmpPacket, _ bool) {
				for i := range reply.Variables {
					reply.Variables[i].Type, reply.Variables[i].Value = kind, value
				}
			}
		}
	}
	for name, turn := range map[string]func(*fake){
		"circle": rows(func(column string, n int) []gosnmp.SnmpPDU {
			return []gosnmp.SnmpPDU{pdu(fmt.Sprint(column, ".", 1+n%2), gosnmp.OctetString, "gi1")}
		}),
		"same row": rows(func(column string, _ int) []gosnmp.SnmpPDU {
			return []gosnmp.SnmpPDU{pdu(column+".7", gosnmp.OctetString, "gi7")}
		}),
		"endless by one": rows(func(column string, n int) []gosnmp.SnmpPDU {
			return []gosnmp.SnmpPDU{pdu(fmt.Sprint(column, ".", n), gosnmp.OctetString, "gi")}
		}),
		"no rows": rows(func(string, int) []gosnmp.SnmpPDU { return nil }),
		"more rows than requested": rows(func(column string, _ int) (list []gosnmp.SnmpPDU) {
			for n := range 1000 {
				list = append(list, pdu(fmt.Sprint(column, ".", n+1), gosnmp.OctetString, "gi"))
			}
			return list
		}),
		"long index": rows(func(column string, n int) []gosnmp.SnmpPDU {
			oid := fmt.Sprint(column, ".", n, strings.Repeat(".4294967295", 100))
			return []gosnmp.SnmpPDU{pdu(oid, gosnmp.Integer, n)}
		}),
		"huge text":     each(gosnmp.OctetString, strings.Repeat("\x1b[2J$(reboot)\u2028", 2000)),
		"negative":      each(gosnmp.Integer, -1<<31),
		"largest":       each(gosnmp.Counter64, ^uint64(0)),
		"null":          each(gosnmp.Null, nil),
		"end of view":   each(gosnmp.EndOfMibView, nil),
		"address":       each(gosnmp.IPAddress, "192.0.2.1"),
		"an error":      func(f *fake) { f.turned = func(r *gosnmp.SnmpPacket, _ bool) { r.Error = gosnmp.GenErr } },
		"unknown error": func(f *fake) { f.turned = func(r *gosnmp.SnmpPacket, _ bool) { r.Error = 200 } },
		"other request": func(f *fake) { f.turned = func(r *gosnmp.SnmpPacket, _ bool) { r.RequestID += 7 } },
		"a request": func(f *fake) {
			f.turned = func(r *gosnmp.SnmpPacket, _ bool) { r.PDUType = gosnmp.GetRequest }
		},
		"trickle": func(f *fake) { f.delay.Store(int64(patience) * 9 / 10) },
		"flood of others": func(f *fake) {
			f.before = func(request []byte) (list [][]byte) {
				packet, err := (&gosnmp.GoSNMP{Version: gosnmp.Version2c}).SnmpDecodePacket(request)
				for n := range uint32(200) {
					if err == nil {
						packet.PDUType, packet.RequestID = gosnmp.GetResponse, packet.RequestID+1+n
						message, err := packet.MarshalMsg()
						list = append(list, message)
						if err != nil {
							return nil
						}
					}
				}
				return list
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.port(1, "gi1", 64, 0, 400e6, 0)
			turn(f)
			f.serve()
			s := f.open(t)
			said := make(chan string, 1)
			var reading record.SwitchReading
			go func() {
				if err := s.Discover(t.Context(), []Wanted{nas}); err != nil {
					said <- err.Error()
					return
				}
				reading, _ = window(t, s, 200*time.Millisecond)
				said <- strings.Join(s.found.lacking, "; ")
			}()
			var text string
			kerneltest.Await(t, "the end of discovery", func() bool {
				select {
				case text = <-said:
					return true
				default:
					return false
				}
			})
			if len(text) > 1000 || strings.ContainsAny(text, "\n\x1b") || strings.Contains(text, community) {
				t.Errorf("%q", text)
			}
			if err := syntax.Check(&reading); err != nil {
				t.Error(err)
			}
			if s.found != nil && (len(s.found.interfaces) > mostInterfaces || len(s.found.fdb) > mostForwarded) {
				t.Errorf("%d interfaces, %d addresses", len(s.found.interfaces), len(s.found.fdb))
			}
		})
	}
}
