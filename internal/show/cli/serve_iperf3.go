package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/control/measure"
	"linerate/internal/host/iperf3"
	iperf3server "linerate/internal/host/iperf3/server"
	"linerate/internal/host/serve"
)

// iperf3ServeFlags are the flags of serve for clients of iperf3. Those about users have the names
// of iperf3.
type iperf3ServeFlags struct {
	listen     string
	key, users string
	skew       time.Duration
	pkcs1      bool
}

// iperf3Off disables the listener for iperf3 clients.
const iperf3Off = "off"

func (f *iperf3ServeFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.listen, "iperf3", ":"+iperf3.DefaultPort,
		"`address` and port, TCP and UDP, for iperf3 clients; off: none")
	flags.StringVar(&f.key, "rsa-private-key-path", "",
		"answer only iperf3 clients with a user name and a password, which the private key in this `file` decrypts")
	flags.StringVar(&f.users, "authorized-users-path", "",
		"`file` of these users; each line is a name, a comma, and the hash of the password")
	durationVar(flags, &f.skew, time.Nanosecond, "time-skew-threshold", "10s",
		"how far an iperf3 client's clock may be off")
	flags.BoolVar(&f.pkcs1, "use-pkcs1-padding", false,
		"also accept tokens of iperf3 before 3.17, whose padding is weak")
}

// complete completes the address, and returns what is wrong with the flags.
func (f *iperf3ServeFlags) complete() (list []error) {
	if f.listen != iperf3Off {
		at, err := listenAt(f.listen, iperf3.DefaultPort)
		if err != nil {
			list = append(list, fmt.Errorf("--iperf3 %w, or off", err))
		}
		f.listen = at
	}
	if (f.key == "") != (f.users == "") {
		list = append(list, errors.New("--rsa-private-key-path and --authorized-users-path: expected both or neither"))
	}
	return list
}

// logins loads the users that the flags name; nil: none.
func (f iperf3ServeFlags) logins() (*iperf3server.Users, error) {
	if f.listen == iperf3Off || f.key == "" {
		return nil, nil
	}
	l, err := iperf3server.LoadUsers(f.key, f.users, f.skew, f.pkcs1)
	if err != nil {
		return nil, fmt.Errorf("the users of iperf3: %w", err)
	}
	return l, nil
}

// open listens for clients of iperf3. If the port is in use, most likely by an iperf3, serve still
// works without it. own are linerate's listeners.
func (f iperf3ServeFlags) open(ctx context.Context, log io.Writer, logins *iperf3server.Users, token bool,
	own []serve.Listener) *serve.Iperf3 {
	if f.listen == iperf3Off {
		return nil
	}
	at := &serve.Iperf3{Users: logins}
	var err error
	if at.Listener, err = iperf3server.Listen(ctx, f.listen); err != nil {
		err = cannotListen(ctx, err, f.listen, "--iperf3", 1)
		for _, l := range own {
			if port := l.Addr().(*net.TCPAddr).Port; strings.HasSuffix(f.listen, ":"+strconv.Itoa(port)) {
				err = fmt.Errorf(
					"%d is linerate's own port here: choose another for them, such as --iperf3 :%s; without -p or "+
						"--listen linerate's own is %s",
					port, freePort("", port), measure.DefaultPort)
			}
		}
		say(log, "iperf3 clients are not answered: %v\n", err)
		return nil
	}
	switch {
	case at.Users != nil:
		say(log, "iperf3 clients with a user name and a password are answered on %s\n", at.Listener.Addr())
	case token:
		say(log,
			"iperf3 clients are refused on %s: they cannot prove the token; --rsa-private-key-path and "+
				"--authorized-users-path accept users\n", at.Listener.Addr())
	default:
		say(log, "iperf3 clients are answered on %s: iperf3 -c ADDRESS%s\n", at.Listener.Addr(),
			portWords(at.Listener.Addr().Port, iperf3.DefaultPort, " -p %d"))
	}
	return at
}
