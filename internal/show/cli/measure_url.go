package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/source"
)

// urlSchemes returns the schemes of URLs of servers, and the protocols that each scheme stands for:
// the first one, unless --protocol selects another.
func urlSchemes() (schemes map[string]flow.URL, protocolsOf map[string][]string) {
	schemes, protocolsOf = map[string]flow.URL{}, map[string][]string{}
	for _, p := range flow.Protocols {
		for _, u := range p.URLs {
			schemes[u.Scheme] = u
			protocolsOf[u.Scheme] = append(protocolsOf[u.Scheme], p.Name)
		}
	}
	return schemes, protocolsOf
}

// isURL reports whether an argument is a URL and not a host.
func isURL(text string) bool { return strings.Contains(text, "://") }

// fromURL takes the protocol and its options from the URL of a server of another program, and
// returns the server's address with its port.
func (f *measureFlags) fromURL(text string) (address string, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%.80q: expected a URL such as http://nas/file", text)
	}
	schemes, protocolsOf := urlSchemes()
	scheme, known := schemes[u.Scheme]
	protocols := protocolsOf[u.Scheme]
	if !known {
		return "", fmt.Errorf("%.80q: expected %s, or ADDRESS of a linerate serve", text,
			source.Or(withSlashes(slices.Sorted(maps.Keys(schemes)))))
	}
	spec := &f.asked.Flows
	encrypted := spec.TLS != "" && spec.TLS != flow.TLSOff
	switch {
	case u.Hostname() == "":
		return "", fmt.Errorf("%.80q has no host", text)
	case u.User != nil:
		return "", errors.New("a URL with a user: expected none, since the notebook would keep it")
	case !f.given("protocol"):
		spec.Protocol = protocols[0]
	case !slices.Contains(protocols, spec.Protocol):
		return "", fmt.Errorf("--protocol %s with a URL of %s://: expected %s", spec.Protocol, u.Scheme,
			source.Or(protocols))
	}
	if f.given("tls") && protocols[0] == flow.HTTP && encrypted != scheme.TLS {
		return "", fmt.Errorf("--tls %s with a URL of %s://: expected %s://", spec.TLS, u.Scheme,
			map[bool]string{true: "https", false: "http"}[encrypted])
	}
	if scheme.TLS && spec.TLS == "" {
		spec.TLS = flow.TLSFull
	}
	port := cmp.Or(u.Port(), strconv.Itoa(scheme.Port))
	if u.Port() == "" && f.like.port != 0 {
		port = strconv.Itoa(f.like.port)
	}
	rest := u.RequestURI()
	switch {
	case flow.Find("path").For(spec.Protocol):
		if f.given("path") && rest != "/" {
			return "", errors.New("--path and a path in the URL: expected one of them")
		}
		if rest != "/" {
			spec.Path = rest
		}
	case flow.Find("names").For(spec.Protocol) && len(u.Path) > 1:
		spec.Names = append(spec.Names, strings.TrimPrefix(u.Path, "/"))
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// foreignProblems returns errors for flags that have no meaning for a server of another program.
func (f *measureFlags) foreignProblems(addresses []string) (problems []error) {
	if len(addresses) > 1 {
		problems = append(problems, errors.New("a server by its URL: expected one, not several"))
	}
	for _, flag := range []string{"iperf3", "token", "alias", "latency", "loss-free", "response"} {
		if f.given(flag) {
			problems = append(problems, fmt.Errorf("--%s is for a server of linerate: expected no URL", flag))
		}
	}
	return problems
}

func withSlashes(schemes []string) (list []string) {
	return lists.Map(schemes, func(s string) string { return s + "://" })
}
