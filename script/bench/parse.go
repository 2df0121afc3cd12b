//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// measured is the part of linerate's JSON document that is read.
type measured struct {
	GoodputBps    float64 `json:"goodput_bps"`
	ReceivedBytes float64 `json:"received_bytes"`
	RatePerS      float64 `json:"rate_per_s"`
	Ends          []struct {
		BusyCPUS float64 `json:"busy_cpu_s"`
	}
	Flows []struct {
		Datagrams *struct{ Received, Lost float64 }
	}
}

// parseMeasure reads thousands of transactions per second, or else goodput, the CPU
// time of the machine in the window, and what was lost.
func parseMeasure(text []byte) (figure, error) {
	var m measured
	if err := json.Unmarshal(text, &m); err != nil {
		return figure{}, err
	}
	if m.RatePerS > 0 {
		return figure{rate: m.RatePerS / 1e3}, nil
	}
	if m.GoodputBps <= 0 || m.ReceivedBytes <= 0 || len(m.Ends) == 0 {
		return figure{}, errors.New("linerate measure: no goodput and no transactions")
	}
	// Both ends read the same machine's counters.
	f := figure{rate: m.GoodputBps / 1e9, cpu: m.Ends[0].BusyCPUS / (m.ReceivedBytes / 1e9)}
	received, lost := 0.0, 0.0
	for _, flow := range m.Flows {
		if d := flow.Datagrams; d != nil {
			received, lost = received+d.Received, lost+d.Lost
		}
	}
	if received > 0 {
		f.lost = lost / (received + lost)
	}
	return f, nil
}

// What other tools print.

// parseIperf3 reads what the receiver got.
func parseIperf3(text []byte) (figure, error) {
	var result struct {
		Error string
		End   struct {
			Received struct {
				Bytes   float64
				Bps     float64 `json:"bits_per_second"`
				Percent float64 `json:"lost_percent"`
			} `json:"sum_received"`
		}
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return figure{}, err
	}
	if r := result.End.Received; result.Error == "" && r.Bytes > 0 {
		return figure{rate: r.Bps / 1e9, gigabytes: r.Bytes / 1e9, lost: r.Percent / 100}, nil
	}
	return figure{}, fmt.Errorf("%s: no bytes received", result.Error)
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
		f.rate, f.gigabytes = f.rate+bps/1e9, f.gigabytes+bytes/1e9
	}
	if f.gigabytes <= 0 {
		return figure{}, fmt.Errorf("%q: no bytes sent", text)
	}
	return f, nil
}

// parseNuttcp reads megabytes=6689.8 … rate_Mbps=28044.8 … data_loss=47.6, where
// megabytes are of 2²⁰ bytes.
func parseNuttcp(text []byte) (figure, error) {
	var f figure
	for _, word := range strings.Fields(string(text)) {
		name, value, _ := strings.Cut(word, "=")
		number, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
		case name == "megabytes":
			f.gigabytes = number * (1 << 20) / 1e9
		case name == "rate_Mbps":
			f.rate = number / 1e3
		case name == "data_loss":
			f.lost = number / 100
		}
	}
	if f.rate <= 0 {
		return figure{}, fmt.Errorf("%q: no rate_Mbps", text)
	}
	return f, nil
}

var (
	parseSockperf = halfTrips(`Latency is ([0-9.]+) usec`, 1e6)
	parseQperf    = halfTrips(`latency\s+=\s+([0-9.]+) ns`, 1e9)
)

// halfTrips reads half a round trip, of which so many make a second, as thousands of
// round trips per second.
func halfTrips(pattern string, perSecond float64) func([]byte) (figure, error) {
	find := regexp.MustCompile(pattern)
	return func(text []byte) (figure, error) {
		found := append(find.FindSubmatch(text), nil, nil)
		half, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil || half <= 0 {
			return figure{}, fmt.Errorf("%q: no latency", text)
		}
		return figure{rate: perSecond / (2 * half) / 1e3}, nil
	}
}

// parseThousands reads a rate per second.
func parseThousands(text []byte) (figure, error) {
	rate, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	return figure{rate: rate / 1e3}, err
}
