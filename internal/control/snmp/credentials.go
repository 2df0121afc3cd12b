package snmp

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gosnmp/gosnmp"

	"linerate/internal/kernel/file"
	"linerate/internal/model/source"
)

// Credentials are the secrets of an SNMP agent. They never appear in formatted output or in errors of this
// package.
type Credentials struct {
	version gosnmp.SnmpVersion
	values  map[string]string
}

// Format hides the credentials from every verb of fmt.Printf.
func (Credentials) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("credentials")) }

// MarshalJSON returns an error: credentials belong in no document.
func (Credentials) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("credentials are in no document")
}

const (
	mostSecret = 4 << 10 // size of a file in bytes
	// leastPassword is the minimum length of RFC 3414, section 11.2, in characters.
	leastPassword = 8
)

var authProtocols = map[string]gosnmp.SnmpV3AuthProtocol{
	"MD5": gosnmp.MD5, "SHA": gosnmp.SHA, "SHA-224": gosnmp.SHA224, "SHA-256": gosnmp.SHA256, "SHA-384": gosnmp.SHA384,
	"SHA-512": gosnmp.SHA512,
}

var privProtocols = map[string]gosnmp.SnmpV3PrivProtocol{
	"DES": gosnmp.DES, "AES": gosnmp.AES, "AES-192": gosnmp.AES192, "AES-256": gosnmp.AES256,
	"AES-192-C": gosnmp.AES192C, "AES-256-C": gosnmp.AES256C,
}

// ReadCredentials reads a file of lines "key: value" with the credentials for SNMP version "2c" (also "")
// or "3". Only the owner of the file may have access to it (file.ReadPrivate). Errors name the file, the
// line and the key, but no secret.
func ReadCredentials(path, version string) (Credentials, error) {
	data, err := file.ReadPrivate(path, mostSecret)
	if err != nil {
		if os.IsNotExist(err) {
			return Credentials{}, fmt.Errorf("credentials %s: there is no such file", path)
		}
		return Credentials{}, fmt.Errorf("credentials %w", err)
	}
	c, err := parse(string(data), version)
	if err != nil {
		return Credentials{}, fmt.Errorf("credentials %s: %w", path, err)
	}
	return c, nil
}

func parse(text, version string) (Credentials, error) {
	c := Credentials{gosnmp.Version2c, map[string]string{}}
	keys := []string{"community"}
	if version == "3" {
		c.version = gosnmp.Version3
		keys = []string{"user", "auth_protocol", "auth_password", "priv_protocol", "priv_password", "context"}
	}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, is := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), unquoted(strings.TrimSpace(value))
		switch { // do not repeat the line, which may itself be a secret
		case !is || !slices.Contains(keys, key):
			return c, fmt.Errorf("line %d: expected KEY: VALUE with %s", i+1, source.Or(keys))
		case c.values[key] != "":
			return c, fmt.Errorf("line %d: %s is given twice", i+1, key)
		case value == "":
			return c, fmt.Errorf("line %d: %s has no value", i+1, key)
		}
		c.values[key] = value
	}
	return c, c.check(keys[0])
}

// check returns an error that names missing keys.
func (c Credentials) check(required string) error {
	if c.values[required] == "" {
		return fmt.Errorf("%s is missing", required)
	}
	for kind, known := range map[string]func(string) bool{"auth": inMap(authProtocols), "priv": inMap(privProtocols)} {
		protocol, password := c.values[kind+"_protocol"], c.values[kind+"_password"]
		switch {
		case (protocol == "") != (password == ""):
			return fmt.Errorf("%s_protocol and %s_password: expected both, or neither", kind, kind)
		case protocol != "" && !known(strings.ToUpper(protocol)):
			return fmt.Errorf("%s_protocol is not known: docs/switches.md has those that are", kind)
		case password != "" && len(password) < leastPassword:
			return fmt.Errorf("%s_password: expected at least %d characters (RFC 3414, section 11.2)", kind,
				leastPassword)
		}
	}
	if c.values["priv_protocol"] != "" && c.values["auth_protocol"] == "" {
		return fmt.Errorf("priv_protocol needs auth_protocol: there is no privacy without authentication (RFC 3411)")
	}
	return nil
}

func inMap[V any](m map[string]V) func(string) bool {
	return func(key string) bool { _, is := m[key]; return is }
}

// unquoted removes the quotes that YAML allows around a value.
func unquoted(s string) string {
	if n := len(s); n >= 2 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') {
		return s[1 : n-1]
	}
	return s
}

// enter sets the credentials of a client.
func (c Credentials) enter(client *gosnmp.GoSNMP) {
	client.Version = c.version
	if c.version != gosnmp.Version3 {
		client.Community = c.values["community"]
		return
	}
	client.SecurityModel, client.MsgFlags = gosnmp.UserSecurityModel, gosnmp.NoAuthNoPriv
	client.ContextName = c.values["context"]
	user := &gosnmp.UsmSecurityParameters{UserName: c.values["user"], AuthenticationProtocol: gosnmp.NoAuth,
		PrivacyProtocol: gosnmp.NoPriv}
	if name := c.values["auth_protocol"]; name != "" {
		client.MsgFlags = gosnmp.AuthNoPriv
		user.AuthenticationProtocol, user.AuthenticationPassphrase = authProtocols[strings.ToUpper(name)],
			c.values["auth_password"]
	}
	if name := c.values["priv_protocol"]; name != "" {
		client.MsgFlags = gosnmp.AuthPriv
		user.PrivacyProtocol, user.PrivacyPassphrase = privProtocols[strings.ToUpper(name)], c.values["priv_password"]
	}
	client.SecurityParameters = user
}

// Community returns the credentials for version 2c with this community.
func Community(name string) Credentials {
	return Credentials{gosnmp.Version2c, map[string]string{"community": name}}
}
