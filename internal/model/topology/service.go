package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
)

// Service is a server program on a host of a lab, to which flows can connect.
type Service struct {
	Name    string `yaml:",key" json:"name"`
	Program string `yaml:"program" json:"program,omitempty"`
	Port    int    `yaml:"port" json:"port,omitempty"`
	// Settings are in the program's own notation.
	Settings []ServiceSetting `yaml:"settings" json:"settings,omitempty" doc:"settings by the program's own names for them, such as worker_processes: 2 of nginx, server-count: 2 of nsd, default_process_limit: 200 of postfix; what listen has of nginx is added to its listen directives (listen: backlog=4096 reuseport). docs/applications.md lists them"`
}

// Describe documents the keys that depend on the programs, for package source.
func (Service) Describe(key string) (doc string, enum []string) {
	switch key {
	case "program":
		return "the program; absent: the service's name", serviceNames()
	case "port":
		var ports []string
		for _, p := range ServicePrograms {
			ports = append(ports, fmt.Sprint(p.Name, " ", p.Port))
		}
		return "port at which it listens, on all addresses of the host; absent: " + strings.Join(ports, ", "), nil
	}
	return "", nil
}

// ServiceSetting is a setting in the notation of the program.
type ServiceSetting struct {
	Key   string `yaml:",key" json:"key"`
	Value string `yaml:",value" json:"value"`
}

// Of returns the service with defaults filled in, and its program. It returns false if there is no
// such program.
func (s Service) Of() (Service, ServiceProgram, bool) {
	s.Program = cmp.Or(s.Program, s.Name)
	i := slices.IndexFunc(ServicePrograms, func(p ServiceProgram) bool { return p.Name == s.Program })
	if i < 0 {
		return s, ServiceProgram{}, false
	}
	if s.Port == 0 {
		s.Port = ServicePrograms[i].Port
	}
	return s, ServicePrograms[i], true
}

// Words returns the service as a command that is shown to the user for permission.
func (s Service) Words() []string {
	s, _, _ = s.Of()
	list := []string{s.Program}
	list = append(list, lists.Map(s.Settings, func(o ServiceSetting) string { return o.Key + "=" + o.Value })...)
	return list
}

// Service finds a service of the host by its name.
func (h *Host) Service(name string) (Service, bool) {
	s, ok := find(h.Services, func(s *Service) bool { return s.Name == name })
	if !ok {
		return Service{}, false
	}
	return *s, true
}

// serviceText matches the values of settings: nothing that could end a directive, a parameter or a
// line, or name a file of another directory.
var serviceText = pattern.MustCompile(`^[A-Za-z0-9 ._:,=+%-]{1,200}$`)

// serviceSettingsDoc lists the settings of each program.
const serviceSettingsDoc = "docs/applications.md"

// maxServices limits the services of a host.
const maxServices = 32

// services checks the services of a host.
func (c *checker) services(i int) {
	h, path := c.t.Hosts[i], fmt.Sprintf("topology.hosts[%d].services", i)
	if len(h.Services) > 0 && len(h.Via) > 0 {
		c.report(path, "host %q is reached by via: linerate starts services on hosts that it makes alone", h.Name)
	}
	if len(h.Services) > maxServices {
		c.report(path, "%d services: expected at most %d", len(h.Services), maxServices)
	}
	ports := map[int]string{}
	for j, given := range h.Services {
		at := fmt.Sprintf("%s[%d]", path, j)
		s, program, known := given.Of()
		switch other, taken := ports[s.Port]; {
		case !nodeName.MatchString(s.Name):
			c.report(at, "service name %q: %s", s.Name, nodeNameRule)
		case !known && given.Program == "":
			c.report(at, "service %q: expected its program, %s", s.Name, source.Or(serviceNames()))
		case !known:
			c.report(at+".program", "program %q: expected %s", s.Program, source.Or(serviceNames()))
		case s.Port < 1 || s.Port > 65535:
			c.report(at+".port", "port %d: expected 1 to 65535", s.Port)
		case taken:
			c.report(at, "services %q and %q have the same port, %d: give one of them another", other, s.Name, s.Port)
		}
		ports[s.Port] = s.Name
		for k, o := range s.Settings {
			at := fmt.Sprintf("%s.settings[%d]", at, k)
			switch {
			case known && !slices.Contains(program.Settings, o.Key):
				c.report(at, "setting %.40q: a study cannot set it (%s lists what it can of %s)%s", o.Key,
					serviceSettingsDoc, s.Program, source.DidYouMean(o.Key, program.Settings))
			case !serviceText.MatchString(o.Value):
				c.report(at, "setting %s: %.40q: expected 1 to 200 letters, digits, spaces and . _ : , = + %% -",
					o.Key, o.Value)
			}
		}
	}
}

func serviceNames() (names []string) {
	return lists.Map(ServicePrograms, func(p ServiceProgram) string { return p.Name })
}

// ServiceNames returns the names of the host's services in the order of the file.
func (h *Host) ServiceNames() (names []string) {
	return lists.Map(h.Services, func(s Service) string { return s.Name })
}
