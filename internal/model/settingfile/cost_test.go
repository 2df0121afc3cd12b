package settingfile

import (
	"strconv"
	"strings"
	"testing"

	"linerate/internal/model/costtest"
)

// costs are the files of formats that have the most lines of a kind, with a number in place of each #.
var costs = map[string]struct{ before, each, after string }{
	"x.conf":         {"", "net.core.c# = #\n", ""},
	"excludes.conf":  {"net.core.a = 1\n", "-net.core.c#\nnet.core.d# = 1\n", ""},
	"patterns.conf":  {"", "net.ipv4.conf.*.c# = 1\n", ""},
	"same.conf":      {"", "net.core.rmem_max = #\n", ""},
	"tuned.conf":     {"[variables]\nv=1\n[sysctl]\n", "net.core.c# = ${v}\n", ""},
	"x.sh":           {"#!/bin/sh\n", "sysctl -w net.core.c#=1\n", ""},
	"x.md":           {"# x\n", "```\nnet.core.c# = 1\n```\n", ""},
	"x.html":         {"<html><body>", "<pre>net.core.c# = 1</pre>", "</body></html>"},
	"x.nix":          {"{ boot.kernel.sysctl = {\n", "\"net.core.c#\" = 1;\n", "}; }\n"},
	"x.pp":           {"", "sysctl { 'net.core.c#': value => '1' }\n", ""},
	"x.tf":           {"", "resource \"a\" \"b#\" {\n  sysctl = { \"net.core.c#\" = 1 }\n}\n", ""},
	"x.rules":        {"", "ACTION==\"add\", RUN+=\"/sbin/sysctl -w net.core.c#=1\"\n", ""},
	"x.link":         {"[Link]\n", "RxBufferSize=#\n", ""},
	"interfaces":     {"", "iface e# inet manual\n  up ethtool -K e# gro off\n", ""},
	"x.service":      {"[Service]\n", "ExecStartPre=/sbin/sysctl -w net.core.c#=1\n", ""},
	"x.toml":         {"[a]\n", "\"net.core.c#\" = 1\n", ""},
	"play.yaml":      {"- hosts: all\n  tasks:\n", "  - sysctl: {name: net.core.c#, value: 1}\n", ""},
	"x.nmconnection": {"[ethtool]\n", "ring-rx=#\n", ""},
}

// TestCost: twice the lines take at most about twice the time.
func TestCost(t *testing.T) {
	for name, c := range costs {
		costtest.Doubled(t, name, 8000, 3.2, func(n int) func() {
			var b strings.Builder
			b.WriteString(c.before)
			for i := range n {
				b.WriteString(strings.ReplaceAll(c.each, "#", strconv.Itoa(i)))
			}
			b.WriteString(c.after)
			text := []byte(b.String())
			return func() {
				files := []File{Read(name, text, "")}
				Expand(files, func(string) []string { return []string{"net.core.a"} })
				Winning(files, nil)
			}
		})
	}
}
