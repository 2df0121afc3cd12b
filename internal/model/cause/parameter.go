package cause

// Key names a kernel parameter.
type Key struct {
	Key string `json:"key"` // such as net.ipv4.tcp_rmem
}

// Causes in the values of kernel parameters (sysctl).
var (
	WindowScalingOff      = one[None]("window-scaling-off")
	SACKOff               = one[None]("sack-off")
	TimestampsOff         = one[None]("timestamps-off")
	ReceiveBufferSmall    = one[None]("receive-buffer-small")
	SendBufferSmall       = one[None]("send-buffer-small")
	AutotuningOff         = one[None]("autotuning-off")
	SomaxconnSmall        = one[None]("somaxconn-small")
	NetdevBacklogSmall    = one[None]("netdev-backlog-small")
	SYNBacklogSmall       = one[None]("syn-backlog-small")
	SYNCookiesOff         = one[None]("syn-cookies-off")
	PathMTUDiscoveryOff   = one[None]("path-mtu-discovery-off")
	EchoIgnored           = one[None]("echo-ignored")
	OptmemSmall           = one[None]("optmem-small")
	UDPBufferDefaultSmall = one[None]("udp-buffer-default-small")
	RetriesFew            = one[None]("retries-few")
	SYNRetriesFew         = one[None]("syn-retries-few")
	SYNACKRetriesFew      = one[None]("synack-retries-few")
	TTLSmall              = one[None]("ttl-small")
	DSACKOff              = one[None]("dsack-off")
	RACKOff               = one[None]("rack-off")
	LossProbesOff         = one[None]("loss-probes-off")
	AbortOnOverflow       = one[None]("abort-on-overflow")
	OutputLimitSmall      = one[None]("output-limit-small")
	UnsentLimitSmall      = one[None]("unsent-limit-small")
	TimeWaitFew           = one[None]("time-wait-few")
	MSSFloorSmall         = one[None]("mss-floor-small")
	BacklogOfPacketsLong  = one[None]("backlog-of-packets-long")
	ProxyARP              = one[None]("proxy-arp")

	BufferSizesDisordered = one[Key]("buffer-sizes-disordered")
	RFSIncomplete         = one[None]("rfs-incomplete")
	PortRangeSmall        = one[None]("port-range-small")
	ParameterNotApplied   = one[AtRunTime]("parameter-not-applied")
	ParameterSetTwice     = one[None]("parameter-set-twice")
)

// AtRunTime is for parameters whose values differ from the files that set them.
type AtRunTime struct {
	Keys []string `json:"keys,omitempty"` // those of the parameters that programs are known to change at run time
}
