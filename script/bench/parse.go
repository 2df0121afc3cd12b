//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// measured is the part of linerate's JSON document that is read.
type measured struct {
	GoodputBps    float64 `json:"goodput_bps"`
	ReceivedBytes float64 `json:"received_bytes"`
	RatePerS      float64 `json:"rate_per_s"`
	Transactions  struct{ Done float64 }
	LatencyUs     struct{ P99 float64 } `json:"latency_us"`
	Ends          []struct {
		BusyCPUS  float64 `json:"busy_cpu_s"`
		CPUUsEach float64 `json:"cpu_us_per_transaction"`
	}
	Flows []struct {
		Datagrams *struct{ Sent, Received, Lost float64 }
	}
	Trust []struct {
		Check string
		Pass  bool
	}
}

// parseMeasure reads thousands of transactions per second with their p99, or else goodput
// and what was lost; and the CPU time in the window, of the machine and of the client.
func parseMeasure(text []byte) (figure, error) {
	var m measured
	if err := json.Unmarshal(text, &m); err != nil {
		return figure{}, err
	}
	if len(m.Ends) == 0 {
		return figure{}, errors.New("linerate measure: no ends")
	}
	client := m.Ends[0] // both ends read the same machine's counters
	if m.RatePerS > 0 && m.Transactions.Done > 0 {
		return figure{rate: m.RatePerS / 1e3, cpu: client.BusyCPUS / m.Transactions.Done,
			client: client.CPUUsEach / 1e6, p99: m.LatencyUs.P99 / 1e6}, nil
	}
	if m.GoodputBps <= 0 || m.ReceivedBytes <= 0 {
		return figure{}, errors.New("linerate measure: no goodput and no transactions")
	}
	f := figure{rate: m.GoodputBps / 1e9, cpu: client.BusyCPUS / (m.ReceivedBytes / 1e9)}
	sent, received, lost := 0.0, 0.0, 0.0
	for _, flow := range m.Flows {
		if d := flow.Datagrams; d != nil {
			sent, received, lost = sent+d.Sent, received+d.Received, lost+d.Lost
		}
	}
	f.datagrams(sent, received, lost)
	for _, check := range m.Trust {
		if check.Check == "conservation" && check.Pass {
			f.uncounted = 0 // what is missing is no more than the receiver's buffer holds at an edge of the window
		}
	}
	return f, nil
}

// datagrams sets what became of datagrams.
func (f *figure) datagrams(sent, received, lost float64) {
	if received > 0 && sent > 0 {
		f.lost, f.uncounted = lost/(received+lost), math.Abs(sent-received-lost)/sent
	}
}

// What other tools print.

// parseIperf3 reads what the receiver got. Its count of packets has the lost ones.
func parseIperf3(text []byte) (figure, error) {
	type sum struct {
		Bytes   float64
		Bps     float64 `json:"bits_per_second"`
		Packets float64
		Lost    float64 `json:"lost_packets"`
	}
	var result struct {
		Error string
		End   struct {
			Sent     sum `json:"sum_sent"`
			Received sum `json:"sum_received"`
		}
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return figure{}, err
	}
	r := result.End.Received
	if result.Error != "" || r.Bytes <= 0 {
		return figure{}, fmt.Errorf("%s: no bytes received", result.Error)
	}
	f := figure{rate: r.Bps / 1e9, units: r.Bytes / 1e9}
	f.datagrams(result.End.Sent.Packets, r.Packets-r.Lost, r.Lost)
	return f, nil
}

// parseIperf adds up the lines of the flows: …, bytes, bits per second. It prints
// no sum of its own in this format.
func parseIperf(text []byte) (f figure, err error) {
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if len(fields) < 9 {
			return figure{}, fmt.Errorf("line %q: want nine fields", line)
		}
		bytes, err := strconv.ParseFloat(fields[7], 64)
		if err != nil {
			return figure{}, err
		}
		bps, err := strconv.ParseFloat(fields[8], 64)
		if err != nil {
			return figure{}, err
		}
		f.rate, f.units = f.rate+bps/1e9, f.units+bytes/1e9
	}
	if f.units <= 0 {
		return figure{}, fmt.Errorf("%q: no bytes sent", text)
	}
	return f, nil
}

// parseSockperf reads half a round trip in microseconds, as thousands of round trips per
// second.
func parseSockperf(text []byte) (figure, error) {
	found := append(sockperfHalf.FindSubmatch(text), nil, nil)
	half, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil || half <= 0 {
		return figure{}, fmt.Errorf("%q: no latency", text)
	}
	return inThousands(1e6 / (2 * half)), nil
}

var (
	sockperfHalf = regexp.MustCompile(`Latency is ([0-9.]+) usec`)
	neperDone    = regexp.MustCompile(`(?m)^num_transactions=(\d+)$`)
	neperRate    = regexp.MustCompile(`(?m)^throughput=([0-9.]+)$`)
)

// parseNeper reads transactions and their rate at the client, which prints key=value lines.
func parseNeper(text []byte) (figure, error) {
	done, rate := neperDone.FindSubmatch(text), neperRate.FindSubmatch(text)
	if done == nil || rate == nil {
		return figure{}, fmt.Errorf("neper: no throughput in %.200q", text)
	}
	units, err := strconv.ParseFloat(string(done[1]), 64)
	if err != nil {
		return figure{}, err
	}
	perSecond, err := strconv.ParseFloat(string(rate[1]), 64)
	return figure{rate: perSecond / 1e3, units: units}, err
}

// parseThousands reads a rate per second.
func parseThousands(text []byte) (figure, error) {
	rate, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	return inThousands(rate), err
}

// inThousands is the figure of a rate per second, which a program kept during a turn.
func inThousands(perSecond float64) figure {
	seconds, _ := strconv.ParseFloat(turnSeconds, 64) // a constant
	return figure{rate: perSecond / 1e3, units: perSecond * seconds}
}
