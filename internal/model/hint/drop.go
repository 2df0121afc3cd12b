package hint

// DropReason explains what the kernel's reason for a drop means.
type DropReason struct {
	Reason string `json:"reason"` // of enum skb_drop_reason, without its prefix
}

var _ = are(DropReason{})
