//go:build tools

package internal

import (
	_ "github.com/goccy/go-yaml"
	_ "github.com/nats-io/nats-server/v2/server"
	_ "github.com/nats-io/nats.go"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/vishvananda/netlink"
	_ "golang.org/x/term"
	_ "gonum.org/v1/gonum/stat/distuv"
	_ "modernc.org/sqlite"
)
