//go:build linux

package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// framesFile is a capture of framesEach frames of 64 bytes, including the check sequence,
// to a MAC address that host b does not have: b's kernel discards them at once. trafgen has
// the same frame in peers/frame.cfg.
const (
	framesFile = "frames.pcap"
	framesEach = 10_000
)

var frames = contest{
	key: "frames", Title: "Frames of 64 bytes from a file", lab: pair,
	conditions: []string{"as fast as possible", "100,000 per second"},
	contenders: []contender{
		{name: "linerate replay", command: "{linerate} replay {dir}/" + framesFile + " --interface eth0 --json {}",
			args: []string{"--speed max --passes 150", "--pace 100000 --passes 20"}, parse: parseReplay},
		{name: "tcpreplay", command: "tcpreplay -i eth0 -K {} {dir}/" + framesFile,
			args: []string{"-t -l 100", "-p 100000 -l 20"}, parse: parseTCPReplay, needs: "tcpreplay"},
		{name: "trafgen", command: "trafgen -o eth0 -c {dir}/peers/frame.cfg -P 1 {}",
			args: []string{"-n 1000000", "-n 200000 -b 100000pps"}, parse: parseTrafgen, needs: "trafgen"},
		{name: "trafgen, a process for each CPU", command: "trafgen -o eth0 -c {dir}/peers/frame.cfg {}",
			args: []string{"-n 1000000", "-n 200000 -b 100000pps"}, parse: parseTrafgen, needs: "trafgen"},
	},
	shown: []quantity{rate("thousand per second", 3)},
	marks: []mark{
		{0, "linerate replay", "tcpreplay", rateOf, 2, atLeast},
		{0, "linerate replay", "trafgen", rateOf, 1.2, atLeast},
	},
	About: "Each sends the same frame over the veth pair, whose other end throws it away. Rates are those " +
		"that the programs print, of what their own kernel took. linerate hands frames over by a BPF program " +
		"([decision 0043](../decisions/0043-frames-by-a-bpf-program.md)); tcpreplay sends one in a call, from " +
		"memory (`-K`); trafgen has a transmit ring, and is kept to one process (`-P 1`) to be compared: " +
		"linerate and tcpreplay send from one thread. The second column is how exactly a rate is kept. The " +
		"kernel's pktgen and xdp-trafficgen need what not every kernel has, and are left out.",
}

// writeFrames writes a file of pcap.
func writeFrames(dir string) error {
	order := binary.LittleEndian
	out := order.AppendUint32(nil, 0xa1b2c3d4)
	out = append(out, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	out = order.AppendUint32(order.AppendUint32(out, 65535), 1) // Ethernet
	frame := make([]byte, 60)
	// UDP from 10.0.0.1 to 10.0.0.2, port 9, without a checksum.
	copy(frame,
		"\x02\x00\x00\x00\x00\x09\x02\x00\x00\x00\x00\x01\x08\x00\x45\x00\x00\x2e\x00\x00\x40\x00\x40\x11\x26\xbd\x0a\x00\x00\x01\x0a\x00\x00\x02\x30\x39\x00\x09\x00\x1a\x00\x00")
	for i := range framesEach {
		at := time.Duration(i) * 10 * time.Microsecond
		out = order.AppendUint32(order.AppendUint32(out, uint32(at/time.Second)),
			uint32(at%time.Second/time.Microsecond))
		out = order.AppendUint32(order.AppendUint32(out, uint32(len(frame))), uint32(len(frame)))
		out = append(out, frame...)
	}
	return os.WriteFile(filepath.Join(dir, framesFile), out, 0o644)
}

func parseReplay(text []byte) (figure, error) {
	var r struct {
		PerS float64 `json:"frames_per_s"`
	}
	if err := json.Unmarshal(text, &r); err != nil || r.PerS <= 0 {
		return figure{}, fmt.Errorf("linerate replay: no rate in %q: %w", text, errors.Join(err))
	}
	return figure{rate: r.PerS / 1e3}, nil
}

var (
	ratedTCPReplay = regexp.MustCompile(`Rated: .* ([0-9.]+) pps`)
	ratedTrafgen   = regexp.MustCompile(`(\d+) sec, (\d+) usec on CPU\d+ \((\d+) packets\)`)
)

func parseTCPReplay(text []byte) (figure, error) {
	found := append(ratedTCPReplay.FindSubmatch(text), nil, nil)
	rate, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil || rate <= 0 {
		return figure{}, fmt.Errorf("%q: no rate", text)
	}
	return figure{rate: rate / 1e3}, nil
}

func parseTrafgen(text []byte) (figure, error) {
	// A line for each process.
	packets, longest := 0.0, 0.0
	for _, found := range ratedTrafgen.FindAllSubmatch(text, -1) {
		var n [3]float64
		for i := range n {
			n[i], _ = strconv.ParseFloat(string(found[i+1]), 64)
		}
		packets, longest = packets+n[2], max(longest, n[0]+n[1]/1e6)
	}
	if packets <= 0 || longest <= 0 {
		return figure{}, fmt.Errorf("%q: no packets", text)
	}
	return figure{rate: packets / longest / 1e3}, nil
}
