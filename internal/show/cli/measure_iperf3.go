package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
)

// iperf3Flags are the flags for a server of iperf3.
type iperf3Flags struct {
	on, pkcs1           bool
	user, password, key string
}

// iperf3Password is the environment variable with the password if no file is named, as in iperf3
// itself.
const iperf3Password = proc.Iperf3PasswordVariable

func (f *iperf3Flags) define(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "iperf3", false,
		"ADDRESS is that of an iperf3 server (default port 5201); docs/iperf3.md lists the figures that are then "+
			"unknown")
	flags.StringVar(&f.user, "iperf3-user", "", "iperf3: user `name`, for a server that requires one")
	flags.StringVar(&f.password, "iperf3-password", "", "iperf3: `file` with the password (default: the password in $"+
		iperf3Password+")")
	flags.StringVar(&f.key, "iperf3-key", "",
		"iperf3: `file` with the server's public key (PEM), with which the password is encrypted")
	flags.BoolVar(&f.pkcs1, "iperf3-pkcs1", false,
		"iperf3: encrypt with PKCS #1 v1.5 padding, as servers before 3.17 require")
}

// login returns the login for a server that requires a user; nil: none was given.
func (f iperf3Flags) login() (*message.Iperf3Login, error) {
	if f.user == "" {
		return nil, nil
	}
	key, err := readSmall("--iperf3-key", f.key)
	if err != nil {
		return nil, err
	}
	password := os.Getenv(iperf3Password)
	if f.password != "" {
		text, err := readSecret("--iperf3-password", f.password)
		if err != nil {
			return nil, err
		}
		password = strings.TrimRight(string(text), "\r\n")
	}
	if password == "" || strings.ContainsAny(password, " \t\r\n") {
		return nil, usageError(fmt.Errorf(
			"the password for --iperf3-user: expected one without blanks in the file of --iperf3-password, or in $%s",
			iperf3Password))
	}
	return &message.Iperf3Login{User: f.user, Password: password, PublicKey: key, PKCS1: f.pkcs1}, nil
}
