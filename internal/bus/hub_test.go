package bus_test

import (
	"linerate/internal/bus"
	"linerate/internal/bus/hub"
)

func init() { bus.Start = hub.Start }
