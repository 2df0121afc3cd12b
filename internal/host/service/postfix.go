package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"linerate/internal/host/daemon"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/topology"
)

func init() { descriptors["postfix"] = postfix }

// The directories of Postfix's queue (postfix-files(5)), by who has them.
var (
	postfixOwned = []string{"active", "bounce", "corrupt", "defer", "deferred", "flush", "hold", "incoming", "maildrop",
		"private", "public", "saved", "trace"}
	postfixMain = []string{
		"compatibility_level = 3.6", "myhostname = server.linerate.test", "mydestination =",
		"mynetworks = 0.0.0.0/0 [::]/0",
		// Mails of any client to any recipient are accepted, written to the queue, and discarded from there.
		"default_transport = discard:", "local_transport = discard:",
		"smtpd_relay_restrictions = permit_mynetworks, reject_unauth_destination",
		"alias_maps =", "alias_database =", "local_recipient_maps =", "notify_classes =",
		"smtpd_peername_lookup = no", "smtpd_client_connection_count_limit = 0", "message_size_limit = 33554432",
		"maillog_file = /dev/stdout", "maillog_file_prefixes = /dev/stdout",
	}
)

// postfixServices are those of master.cf that accepting mails and discarding them takes.
const postfixServices = `%d inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
discard unix - - n - - discard
anvil unix - - n - 1 anvil
proxymap unix - - n - - proxymap
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
`

// postfix accepts mails into a queue in memory and discards them. Its processes change to the
// user of its package, which takes root.
func postfix(o topology.Service) daemon.Descriptor {
	return daemon.Descriptor{
		Paths:     []string{"/usr/lib/postfix/sbin/master", "/usr/libexec/postfix/master"},
		VersionBy: []string{"postconf", "-d", "-h", "mail_version"}, Forks: true, Keep: proc.UserSwitching,
		UnixSockets: true, // between its processes
		Version: func(printed string) (string, error) {
			version := strings.TrimSpace(printed)
			if version == "" || strings.ContainsAny(version, " \n") {
				return "", errors.New("expected a version of Postfix")
			}
			return "Postfix " + version, nil
		},
		Ready: func(ctx context.Context) error { return greets(ctx, o.Port) },
		Configure: func(dir string) ([]string, error) {
			return []string{"-d", "-s", "-c", filepath.Join(dir, "etc")}, postfixFiles(o, dir)
		},
	}
}

// greets is nil once a server of mail says that it is ready (RFC 5321, section 3.1): that
// master(8) listens does not tell whether smtpd(8) starts.
func greets(ctx context.Context, port int) error {
	conn, err := dial(ctx, port)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	code := make([]byte, 3)
	if _, err := io.ReadFull(conn, code); err != nil {
		return err
	}
	if string(code) != "220" {
		return fmt.Errorf("it greets with %q", code)
	}
	return nil
}

// postfixFiles writes the configuration and makes the queue.
func postfixFiles(o topology.Service, dir string) error {
	uid, err := postfixUser()
	if err != nil {
		return err
	}
	families := "ipv4"
	if hasIPv6() {
		families = "all"
	}
	main := append([]string{"queue_directory = " + filepath.Join(dir, "queue"), "data_directory = " +
		filepath.Join(dir, "data"), "inet_protocols = " + families}, postfixMain...)
	for _, s := range o.Settings {
		main = append(main, s.Key+" = "+s.Value)
	}
	made := []error{os.Chmod(dir, 0o711)}
	mkdir := func(owner int, path ...string) {
		at := filepath.Join(append([]string{dir}, path...)...)
		made = append(made, os.Mkdir(at, 0o755), os.Chown(at, owner, -1))
	}
	mkdir(0, "etc")
	mkdir(0, "queue")
	mkdir(0, "queue", "pid")
	mkdir(uid, "data")
	for _, name := range postfixOwned {
		mkdir(uid, "queue", name)
	}
	made = append(made, os.WriteFile(filepath.Join(dir, "etc", "main.cf"), lines(main...), 0o644),
		os.WriteFile(filepath.Join(dir, "etc", "master.cf"), fmt.Appendf(nil, postfixServices, o.Port), 0o644))
	return errors.Join(made...)
}

// postfixUser is the number of the user that Postfix's processes change to. An error: this
// process cannot change to it, as in a user namespace that has no other user.
func postfixUser() (int, error) {
	found, err := user.Lookup("postfix")
	if err != nil {
		return 0, err
	}
	uid, err := strconv.Atoi(found.Uid)
	if err != nil {
		return 0, err
	}
	if !(proc.Proc{}).HasUser(uid) {
		return 0,
			errors.New(
				"it needs a lab of root: its processes change to the user postfix, whom a lab of an ordinary user " +
					"does not have (user_namespaces(7))")
	}
	return uid, nil
}
