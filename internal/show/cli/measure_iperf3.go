package cli

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/control/measure"
	"linerate/internal/host/iperf3"
	"linerate/internal/model/message"
)

// iperf3Flags are for a server that is iperf3's.
type iperf3Flags struct {
	on, pkcs1           bool
	user, password, key string
}

// iperf3Password holds the password where no file is named, as for iperf3 itself.
const iperf3Password = "IPERF3_PASSWORD"

func (f *iperf3Flags) define(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "iperf3", false, "ADDRESS is an iperf3 server's (port 5201 by default); see docs/iperf3.md for what cannot be known then")
	flags.StringVar(&f.user, "iperf3-user", "", "iperf3: who this is, for a server that asks")
	flags.StringVar(&f.password, "iperf3-password", "", "iperf3: file that holds the password (default: what is in $"+iperf3Password+")")
	flags.StringVar(&f.key, "iperf3-key", "", "iperf3: file with the server's public key (PEM), with which the password is encrypted")
	flags.BoolVar(&f.pkcs1, "iperf3-pkcs1", false, "iperf3: encrypt as servers before 3.17 want it")
}

// iperf3Unsuited are flags that mean nothing to an iperf3 server, and why.
var iperf3Unsuited = []struct{ flag, why string }{
	{"latency", "an iperf3 server answers no requests"},
	{"loss-free", "an iperf3 server reports losses only when a test is over"},
	{"source-port", "the ports of its connections cannot be chosen"},
	{"bind-no-port", "the ports of its connections cannot be chosen"},
	{"token", "an iperf3 server knows users: --iperf3-user"},
	{"read-cap", "an iperf3 server reads as fast as it can"},
	{"write-cap", "--rate-cap is what iperf3 knows"},
	{"send-buffer", "iperf3 has one size for all buffers: --window"},
	{"receive-buffer", "iperf3 has one size for all buffers: --window"},
}

// problems are what is wrong with the flags for an iperf3 server.
func (f iperf3Flags) problems(m *measureFlags, o measure.Options) (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if !f.on {
		for _, flag := range []string{"iperf3-user", "iperf3-password", "iperf3-key", "iperf3-pkcs1"} {
			if m.given(flag) {
				problem("--%s is for an iperf3 server: expected --iperf3 with it", flag)
			}
		}
		return problems
	}
	if p := m.flows.Protocol; m.transacts() {
		problem("--protocol %s: iperf3 has only tcp and udp; a linerate serve there can do it", p)
	}
	for _, u := range iperf3Unsuited {
		if m.given(u.flag) {
			problem("--%s with --iperf3: %s", u.flag, u.why)
		}
	}
	if len(o.Addresses) > 1 || len(o.Sources) > 1 {
		problem("--iperf3: expected one address, and one --source at most: a test of iperf3's has one of each")
	}
	if m.flows.Streams > iperf3.MaxStreams {
		problem("--streams %d: iperf3 takes at most %d in each direction", m.flows.Streams, iperf3.MaxStreams)
	}
	if d := time.Duration(m.duration); d > iperf3.MaxTimeS*time.Second {
		problem("--duration %v: iperf3 takes at most %v", d, iperf3.MaxTimeS*time.Second)
	}
	if d := time.Duration(m.warmup); d > iperf3.MaxOmitS*time.Second {
		problem("--warmup %v: iperf3 omits at most %v", d, iperf3.MaxOmitS*time.Second)
	}
	if m.flows.Window > iperf3.MaxWindow {
		problem("--window %v: iperf3 takes at most %d bytes", m.flows.Window, iperf3.MaxWindow)
	}
	switch {
	case f.user == "" && (m.given("iperf3-password") || m.given("iperf3-key") || f.pkcs1):
		problem("--iperf3-password, --iperf3-key and --iperf3-pkcs1 go with --iperf3-user")
	case m.given("iperf3-user") && (f.user == "" || strings.ContainsAny(f.user, " \t\n")):
		problem("--iperf3-user %q: expected a name without blanks", f.user)
	case f.user != "" && f.key == "":
		problem("--iperf3-user: expected --iperf3-key with it, the server's public key")
	}
	return problems
}

// peer is how to deal with the server; nil: it is linerate's.
func (f iperf3Flags) peer() (*measure.Iperf3, error) {
	switch {
	case !f.on:
		return nil, nil
	case f.user == "":
		return &measure.Iperf3{}, nil
	}
	key, err := readSmall("--iperf3-key", f.key)
	if err != nil {
		return nil, err
	}
	password := os.Getenv(iperf3Password)
	if f.password != "" {
		text, err := readSmall("--iperf3-password", f.password)
		if err != nil {
			return nil, err
		}
		password = strings.TrimRight(string(text), "\r\n")
	}
	if password == "" || strings.ContainsAny(password, " \t\r\n") {
		return nil, usageError(fmt.Errorf("the password for --iperf3-user: expected one without blanks in the file of --iperf3-password, or in $%s", iperf3Password))
	}
	return &measure.Iperf3{Login: &message.Iperf3Login{User: f.user, Password: password, PublicKey: key, PKCS1: f.pkcs1}}, nil
}
