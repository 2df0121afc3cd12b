package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/host/daemon"
	"linerate/internal/model/flow"
	"linerate/internal/model/topology"
)

func init() { descriptors["nginx"] = nginx }

// Directives of nginx's main context and of events; others are those of http, or of listen.
var (
	nginxMain = []string{"pcre_jit", "thread_pool", "timer_resolution",
		"worker_cpu_affinity", "worker_priority", "worker_processes", "worker_rlimit_nofile"}
	nginxEvents = []string{"accept_mutex", "accept_mutex_delay", "multi_accept", "use", "worker_aio_requests",
		"worker_connections"}
	// nginxDebian are those of Debian's nginx.conf, which settings of the study replace.
	nginxDebian = []topology.ServiceSetting{
		{Key: "worker_processes", Value: "auto"}, {Key: "worker_connections", Value: "768"},
		{Key: "sendfile", Value: "on"}, {Key: "tcp_nopush", Value: "on"}, {Key: "access_log", Value: "off"},
	}
)

// nginx serves files of the directory www, whose names are their sizes. Its workers run as
// root of the lab, since the directory has mode 0700.
func nginx(o topology.Service) daemon.Descriptor {
	return daemon.Descriptor{
		VersionBy: []string{"nginx", "-v"}, Forks: true,
		Version: func(printed string) (string, error) {
			_, version, found := strings.Cut(strings.TrimSpace(printed), "nginx/")
			if !found {
				return "", errors.New("expected a version of nginx")
			}
			return "nginx " + version, nil
		},
		Configure: func(dir string) ([]string, error) {
			config := filepath.Join(dir, "nginx.conf")
			err := errors.Join(os.Mkdir(filepath.Join(dir, "www"), 0o755),
				os.WriteFile(config, nginxConfig(o, dir, hasIPv6()), 0o644))
			return []string{"-p", dir, "-c", config, "-e", "stderr"},
				errors.Join(err, bodies(dir, []int64{flow.DefaultBody}))
		},
	}
}

// nginxConfig is a service's configuration.
func nginxConfig(o topology.Service, dir string, ipv6 bool) []byte {
	var listen string
	var main, events, http []string
	replaced := func(s topology.ServiceSetting) bool {
		return slices.ContainsFunc(o.Settings, func(own topology.ServiceSetting) bool { return own.Key == s.Key })
	}
	for _, s := range slices.Concat(slices.DeleteFunc(slices.Clone(nginxDebian), replaced), o.Settings) {
		directive := s.Key + " " + s.Value + ";"
		switch {
		case s.Key == "listen":
			listen = " " + s.Value
		case slices.Contains(nginxMain, s.Key):
			main = append(main, directive)
		case slices.Contains(nginxEvents, s.Key):
			events = append(events, "  "+directive)
		default:
			http = append(http, "  "+directive)
		}
	}
	for _, temp := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		http = append(http, fmt.Sprintf("  %s_temp_path %s;", temp, filepath.Join(dir, temp)))
	}
	http = append(http, "  default_type application/octet-stream;", "  server {",
		fmt.Sprintf("    listen %d%s;", o.Port, listen))
	if ipv6 {
		http = append(http, fmt.Sprintf("    listen [::]:%d%s;", o.Port, listen))
	}
	http = append(http, "    root "+filepath.Join(dir, "www")+";", "  }")
	main = append([]string{"user root root;", "daemon off;", "error_log stderr;", "pid " +
		filepath.Join(dir, "nginx.pid") + ";"}, main...)
	return lines(slices.Concat(main, []string{"events {"}, events, []string{"}", "http {"}, http, []string{"}"})...)
}

// mostBodies bounds the files of a service.
const mostBodies = 64

// bodies makes files of these sizes in bytes, which their names are, that are not there.
func bodies(dir string, sizes []int64) error {
	for i, size := range sizes {
		path := filepath.Join(dir, "www", strconv.FormatInt(size, 10))
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if i >= mostBodies {
			return fmt.Errorf("%d sizes of responses: expected at most %d", len(sizes), mostBodies)
		}
		err := os.WriteFile(path, []byte(strings.Repeat("x", int(size))), 0o644)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
